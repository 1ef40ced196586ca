/** Releases the memory of a download's chunks as soon as they are sent, on transports that expose this. */
import { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { dispose } from "@weft/core/adapter"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"

export const disposeSentChunks = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  request: HttpServerRequest.HttpServerRequest
): Stream.Stream<Uint8Array, E> => {
  if (!(request.source instanceof IncomingMessage)) return bytes
  const response = NodeHttpServerRequest.toServerResponse(request)
  return Stream.transformPull(bytes, (pull) =>
    Effect.sync(() => {
      let last: ReadonlyArray<Uint8Array> = []
      return Effect.suspend(() => {
        // The stream pulls after it wrote the last chunks. An empty write buffer means that they are sent.
        if (response.writableLength === 0) for (const chunk of last) dispose(chunk)
        return Effect.map(pull, (chunks) => {
          last = chunks
          return chunks
        })
      })
    })
  )
}
