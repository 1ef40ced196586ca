/** Reads bodies into memory, from `node:http` and from web requests. */
import { IncomingMessage } from "node:http"
import { BadRequest } from "@weft/core"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { unreadableBody } from "../files/NodeBody.ts"
import { BodyBudgetExceeded } from "./BodyBudgetExceeded.ts"
import type { BufferedBody } from "./BufferedBody.ts"

type ServerRequest = HttpServerRequest.HttpServerRequest

type BodyFault = BadRequest | BodyBudgetExceeded

export const bodyTooLarge = new BadRequest({ reason: "The body is too large" })

/** Adds the whole body to `buffered`. Stops reading at the first byte beyond `maxBytes` or beyond the memory budget. */
export const readBody = (
  request: ServerRequest,
  buffered: BufferedBody,
  maxBytes: number
): Effect.Effect<void, BodyFault> => {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Effect.fail(bodyTooLarge)
  const take = makeTake(buffered, maxBytes)
  const { source } = request
  // With `Expect`, a host's server may send `100 Continue` only when `effect` reads the stream.
  if (source instanceof IncomingMessage && request.headers.expect === undefined) return readNode(source, take)
  return Stream.runForEach(
    Stream.mapError(request.stream, (): BodyFault => unreadableBody),
    (chunk) => {
      const fault = take(chunk)
      return fault === null ? Effect.void : Effect.fail(fault)
    }
  )
}

/** Takes a chunk. Returns why it cannot. */
type Take = (chunk: Uint8Array) => BodyFault | null

const makeTake = (buffered: BufferedBody, maxBytes: number): Take => {
  let bytes = 0
  // The declared length of a fetch host may be wrong, so bodies of known length are also counted.
  return (chunk) => {
    bytes += chunk.length
    if (bytes > maxBytes) return bodyTooLarge
    return buffered.add(chunk) ? null : new BodyBudgetExceeded()
  }
}

const readNode = (source: IncomingMessage, take: Take): Effect.Effect<void, BodyFault> =>
  Effect.callback((resume) => {
    const stop = (): void => {
      source.off("data", onData).off("end", onEnd).off("close", onAborted)
      // Later connection errors are irrelevant, but an `error` event needs a listener.
      source.off("error", onAborted).on("error", () => undefined)
    }
    const end = (outcome: Effect.Effect<void, BodyFault>): void => {
      stop()
      resume(outcome)
    }
    const onData = (chunk: Buffer): void => {
      const fault = take(chunk)
      if (fault === null) return
      source.pause()
      end(Effect.fail(fault))
    }
    const onEnd = (): void => end(Effect.void)
    const onAborted = (): void => end(Effect.fail(unreadableBody))
    if (source.readableEnded) return onEnd()
    if (source.destroyed) return onAborted()
    source.on("data", onData).on("end", onEnd).on("error", onAborted).on("close", onAborted)
    return Effect.sync(() => {
      stop()
      source.pause()
    })
  })
