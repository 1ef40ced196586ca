/**
 * The progress of an operation as Server-Sent Events: its state now, each later one, and the end.
 *
 * Any node may execute the operation, so its followers read the store. A client that reconnects begins with the state at that
 * moment, and misses nothing that still matters.
 */
import { OperationRecord } from "@weft/api"
import type { StoreUnavailable } from "@weft/core"
import { type Operation, utf8Encode } from "@weft/core/adapter"
import { Cause, Clock, Effect, Latch, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { type EventStreams, streamHeaders } from "./EventStreams.ts"
import { formatFrame, heartbeatComment } from "./SseEncoder.ts"

/** Interval of reads, in milliseconds. */
const readMs = 500

interface Followed {
  readonly first: Operation
  /** Reads the operation again; null if it is no longer stored. */
  readonly read: Effect.Effect<Operation | null, StoreUnavailable>
  /** True if the client still has permission. Evaluated at every heartbeat. */
  readonly isAuthorized: Effect.Effect<boolean>
}

const encodeRecord = Schema.encodeSync(OperationRecord)

const encode = (operation: Operation): string =>
  formatFrame(
    null,
    operation.ended_at === null ? "operation:progress" : "operation:end",
    JSON.stringify(encodeRecord(operation))
  )

/** Opens the stream, until the end of the operation or the maximum duration. */
export const openOperationStream = ({ onEnd, timing }: EventStreams, { first, read, isAuthorized }: Followed) =>
  Effect.gen(function* () {
    const stopped = Latch.makeUnsafe(false)
    yield* onEnd(() => void stopped.openUnsafe())
    const begin = yield* Clock.currentTimeMillis
    let isOver = first.ended_at !== null
    let last = first
    let checkedAt = begin

    /** Returns the next message or heartbeat; null if nothing has changed. */
    const look = Effect.gen(function* () {
      const operation = yield* Effect.catch(read, () => Effect.succeed(last))
      const now = yield* Clock.currentTimeMillis
      const isDue = now >= checkedAt + timing.heartbeatMs
      if (isDue) checkedAt = now
      if (operation === null || (isDue && !(yield* isAuthorized))) {
        isOver = true
        return null
      }
      const [before, text] = [encode(last), encode(operation)]
      last = operation
      isOver = operation.ended_at !== null || now >= begin + timing.lifetimeMs
      if (text !== before) return utf8Encode(text)
      return isDue ? heartbeatComment : null
    })

    const next: Effect.Effect<readonly [Uint8Array], Cause.Done> = Effect.suspend(() =>
      isOver
        ? Cause.done()
        : Effect.timeoutOption(stopped.await, readMs).pipe(
            Effect.flatMap((stop) => (stop._tag === "Some" ? Cause.done() : look)),
            Effect.flatMap((bytes) => (bytes === null ? next : Effect.succeed([bytes] as const)))
          )
    )
    const chunks = Stream.concat(Stream.succeed(utf8Encode(encode(first))), Stream.fromPull(Effect.succeed(next)))
    return HttpServerResponse.stream(chunks, { contentType: "text/event-stream", headers: streamHeaders })
  })
