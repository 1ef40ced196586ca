/** Answers with bytes: whole or a range, or that the client's copy is still good (RFC 9110). */
import { currentRequestId } from "@weft/api"
import type { ByteRange, OpenFile, ServedAs } from "@weft/core"
import { Clock, Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { toResponse } from "../answers/Answer.ts"
import { failureAnswer, internal } from "../answers/Failure.ts"
import { parseRange } from "./ByteRanges.ts"
import { allowsRange, httpDate, judgeConditions, type Validators } from "./Conditions.ts"
import { attachment } from "./Disposition.ts"
import { disposingSent } from "./SentPieces.ts"

export interface Downloadable<E, R> extends Validators {
  readonly size: number
  readonly contentType: string
  readonly fileName: string
  /** Opens the bytes; not called where none are sent. */
  readonly read: (range?: ByteRange) => Effect.Effect<Stream.Stream<Uint8Array, E>, E, R>
  /** Where else the bytes are to be had, by whoever has the URL; null for nowhere. */
  readonly address: (as: ServedAs) => Effect.Effect<string | null>
}

type Headers = Record<string, string>

export const download = Effect.fnUntraced(function* <E, R>(content: Downloadable<E, R>) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { method, headers } = request
  const verdict = judgeConditions(headers, content)
  if (verdict === "Failed") return refusal(412, "The file is another by now", {})
  if (verdict === "Unmodified") return HttpServerResponse.empty({ status: 304, headers: validatorsOf(content) })

  const isRanged = method === "GET" && allowsRange(headers, content, yield* Clock.currentTimeMillis)
  const asked = isRanged ? parseRange(headers.range, content.size) : parseRange(undefined, content.size)
  const read = (range?: ByteRange) => Effect.map(content.read(range), (bytes) => disposingSent(bytes, request))
  switch (asked._tag) {
    case "Unsatisfiable":
      return refusal(416, "The range is outside of the file", { "content-range": `bytes */${content.size}` })
    case "Whole": {
      const address = method === "GET" && headers.range === undefined ? yield* content.address(servedAs(content)) : null
      if (address !== null) return elsewhere(address)
      return answer(content, 200, content.size, yield* method === "HEAD" ? nothing : read(), {})
    }
    case "Part": {
      const { start, end } = asked.range
      const range = { "content-range": `bytes ${start}-${end - 1}/${content.size}` }
      return answer(content, 206, end - start, yield* read(asked.range), range)
    }
  }
})

export const downloadFile = ({ file, read, address }: OpenFile) =>
  download({
    size: file.size,
    etag: file.etag,
    modifiedAt: file.updated_at,
    contentType: file.content_type,
    fileName: file.path.slice(file.path.lastIndexOf("/") + 1),
    read,
    address
  })

const servedAs = <E, R>({ contentType, fileName }: Downloadable<E, R>): ServedAs => ({
  contentType,
  contentDisposition: attachment(fileName)
})

/** The URL is a credential, and good for a while only. */
const elsewhere = (address: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.redirect(address, { status: 307, headers: { "cache-control": "no-store" } })

const nothing = Effect.succeed(Stream.empty)

const answer = <E, R>(
  content: Downloadable<E, R>,
  status: 200 | 206,
  contentLength: number,
  bytes: Stream.Stream<Uint8Array, E>,
  headers: Headers
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(bytes, {
    status,
    contentType: content.contentType,
    contentLength,
    headers: {
      ...validatorsOf(content),
      ...headers,
      "content-disposition": attachment(content.fileName),
      // Whatever a tenant stored must not run as a page of this host.
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox"
    }
  })

const validatorsOf = ({ etag, modifiedAt }: Validators): Headers => ({
  "accept-ranges": "bytes",
  "cache-control": "private, no-cache",
  etag,
  ...(modifiedAt === null ? {} : { "last-modified": httpDate(modifiedAt) })
})

/** Statuses of their own with a code that has another: the set of codes is closed. */
const refusal = (status: 412 | 416, message: string, headers: Headers): HttpServerResponse.HttpServerResponse => {
  const refused = failureAnswer({ ...internal, code: "bad_request", message }, currentRequestId())
  return toResponse({ ...refused, status, headers: { ...refused.headers, ...headers } })
}
