/** Download responses (RFC 9110): the whole content, a range, or 304 for a current cached copy. */
import { currentRequestId } from "@weft/api"
import type { ByteRange, ServedAs } from "@weft/core/adapter"
import type { OpenFile } from "@weft/core/internal"
import { Clock, Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { failureResponse, internal } from "../responses/Failure.ts"
import { toResponse } from "../responses/PlainResponse.ts"
import { parseRange } from "./ByteRanges.ts"
import { attachment } from "./ContentDisposition.ts"
import { allowsRange, evaluatePreconditions, httpDate, type Validators } from "./Preconditions.ts"
import { disposeSentChunks } from "./SentChunks.ts"

export interface Downloadable<E, R> extends Validators {
  readonly size: number
  readonly contentType: string
  readonly fileName: string
  /** Opens the bytes. Not called for responses without a body. */
  readonly read: (range?: ByteRange) => Effect.Effect<Stream.Stream<Uint8Array, E>, E, R>
  /** Presigned URL of the bytes in the blob store, or null if the server must send them. */
  readonly address: (as: ServedAs) => Effect.Effect<string | null>
}

type Headers = Record<string, string>

export const download = Effect.fnUntraced(function* <E, R>(content: Downloadable<E, R>) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { method, headers } = request
  const outcome = evaluatePreconditions(headers, content)
  if (outcome === "Failed")
    return refusal(412, "The file has changed: its ETag or date does not match the condition of the request", {})
  if (outcome === "Unmodified") return HttpServerResponse.empty({ status: 304, headers: validatorHeaders(content) })

  const isRanged = method === "GET" && allowsRange(headers, content, yield* Clock.currentTimeMillis)
  const requested = isRanged ? parseRange(headers.range, content.size) : parseRange(undefined, content.size)
  const read = (range?: ByteRange) => Effect.map(content.read(range), (bytes) => disposeSentChunks(bytes, request))
  switch (requested._tag) {
    case "Unsatisfiable":
      return refusal(416, "The requested range is outside the file", { "content-range": `bytes */${content.size}` })
    case "Whole": {
      const address =
        method === "GET" && headers.range === undefined ? yield* content.address(toServedAs(content)) : null
      if (address !== null) return redirectTo(address)
      return respond(content, 200, content.size, yield* method === "HEAD" ? noBytes : read(), {})
    }
    case "Part": {
      const { start, end } = requested.range
      const range = { "content-range": `bytes ${start}-${end - 1}/${content.size}` }
      return respond(content, 206, end - start, yield* read(requested.range), range)
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

const toServedAs = <E, R>({ contentType, fileName }: Downloadable<E, R>): ServedAs => ({
  contentType,
  contentDisposition: attachment(fileName)
})

/** Redirects to a presigned URL. It is a short-lived credential, so caches must not store it. */
const redirectTo = (address: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.redirect(address, { status: 307, headers: { "cache-control": "no-store" } })

const noBytes = Effect.succeed(Stream.empty)

const respond = <E, R>(
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
      ...validatorHeaders(content),
      ...headers,
      "content-disposition": attachment(content.fileName),
      // A file of a tenant must not run as a page of this origin.
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox"
    }
  })

const validatorHeaders = ({ etag, modifiedAt }: Validators): Headers => ({
  "accept-ranges": "bytes",
  "cache-control": "private, no-cache",
  etag,
  ...(modifiedAt === null ? {} : { "last-modified": httpDate(modifiedAt) })
})

/** Returns status 412 or 416 with code `bad_request`, because the set of codes is closed. */
const refusal = (status: 412 | 416, message: string, headers: Headers): HttpServerResponse.HttpServerResponse => {
  const refused = failureResponse({ ...internal, code: "bad_request", message }, currentRequestId())
  return toResponse({ ...refused, status, headers: { ...refused.headers, ...headers } })
}
