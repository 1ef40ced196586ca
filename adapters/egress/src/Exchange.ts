/** One request and the head of its response, on one connection. */
import { Readable } from "node:stream"
import type { EgressFailed, HeaderList } from "@weft/core"
import { Effect, Stream } from "effect"
import type { Dispatcher, Pool } from "undici"
import { failureOf } from "./faults.ts"
import { type Hop, isUpload } from "./Redirects.ts"

export interface Head {
  readonly status: number
  readonly statusText: string
  readonly location: string | undefined
  /** Names in lower case, without those of the connection. */
  readonly headers: HeaderList
  /** As it comes in. Is to be read, or destroyed. */
  readonly body: Readable
}

/** Headers of one connection, which mean nothing beyond it. */
const connectionHeaders = new Set(["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"])

/** When the signal is aborted the connection is closed, and the body fails with the signal's reason. */
export const exchange = (pool: Pool, hop: Hop, signal: AbortSignal): Effect.Effect<Head, EgressFailed> =>
  Effect.map(
    Effect.tryPromise({ try: () => pool.request(requestOf(hop, signal)), catch: failureOf }),
    ({ statusCode, statusText, headers, body }) => {
      // A body that fails when nobody reads it is nobody's error.
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

const requestOf = ({ url, method, headers, body }: Hop, signal: AbortSignal): Dispatcher.RequestOptions => {
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
