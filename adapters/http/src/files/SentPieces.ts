/** Gives back the memory of a download's pieces as soon as they are sent, where the transport tells when that is. */
import { IncomingMessage } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { dispose } from "@weft/core"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"

export const disposingSent = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  request: HttpServerRequest.HttpServerRequest
): Stream.Stream<Uint8Array, E> => {
  if (!(request.source instanceof IncomingMessage)) return bytes
  const response = NodeHttpServerRequest.toServerResponse(request)
  return Stream.transformPull(bytes, (pull) =>
    Effect.sync(() => {
      let last: ReadonlyArray<Uint8Array> = []
      return Effect.suspend(() => {
        // More is asked for when the last was written; nothing that waits to be sent means that it was sent.
        if (response.writableLength === 0) for (const piece of last) dispose(piece)
        return Effect.map(pull, (pieces) => {
          last = pieces
          return pieces
        })
      })
    })
  )
}
