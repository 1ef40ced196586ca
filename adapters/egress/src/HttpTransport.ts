/** One request and the head of its response, on one connection. */
import { Readable } from "node:stream"
import type { EgressFailed, HeaderList } from "@weft/core/adapter"
import { Effect, Stream } from "effect"
import type { Dispatcher, Pool } from "undici"
import { toFailure } from "./failures.ts"
import { type Hop, isUpload } from "./Redirects.ts"

export interface ResponseHead {
  readonly status: number
  readonly statusText: string
  readonly location: string | undefined
  /** Names in lower case, without those of the connection. */
  readonly headers: HeaderList
  /** The raw body. The caller must read or destroy it. */
  readonly body: Readable
}

/** Headers that apply only to one connection. */
const connectionHeaders = new Set(["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"])

/** Sends one request. If the signal aborts, the connection closes and the body fails with the signal's reason. */
export const sendHop = (pool: Pool, hop: Hop, signal: AbortSignal): Effect.Effect<ResponseHead, EgressFailed> =>
  Effect.map(
    Effect.tryPromise({ try: () => pool.request(toRequestOptions(hop, signal)), catch: toFailure }),
    ({ statusCode, statusText, headers, body }) => {
      // Ignores errors of an unread body; a reader receives them in another way.
      body.on("error", () => undefined)
      return {
        status: statusCode,
        statusText,
        location: [headers.location].flat()[0],
        headers: Object.entries(headers).flatMap(([name, value]) =>
          value === undefined || connectionHeaders.has(name)
            ? []
            : [value].flat().map((each): readonly [string, string] => [name, each])
        ),
        body
      }
    }
  )

const toRequestOptions = ({ url, method, headers, body }: Hop, signal: AbortSignal): Dispatcher.RequestOptions => {
  const lines = headers.flat()
  if (isUpload(body) && body.length !== null) lines.push("content-length", String(body.length))
  return {
    path: url.pathname + url.search,
    method,
    headers: lines,
    signal,
    body: isUpload(body) ? Readable.from(Stream.toAsyncIterable(body.chunks), { objectMode: false }) : body
  }
}
