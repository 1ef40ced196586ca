/**
 * Waits for a condition on a stream.
 *
 * Activity of the stream triggers a query of the store. The first query happens at once, so earlier changes are found.
 * Lost activity only delays the next query. The bus is read only while a caller waits.
 */
import { Clock, Context, Effect, Latch, Layer, PubSub, RcRef } from "effect"
import type { StreamId } from "../../foundation/Ids.ts"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"

/** Interval of queries without activity, in milliseconds: activity of another node may be lost. */
const pollIntervalMs = 1_000

/** Time until the subscription to the bus is closed after the last caller, in milliseconds. */
const lingerMs = 5_000

export class StreamWatch extends Context.Service<
  StreamWatch,
  {
    /**
     * Runs `query` now and after every activity of the stream, until it returns a value. Returns null when the time has
     * elapsed.
     */
    readonly until: <A, E, R>(
      streamId: StreamId,
      query: Effect.Effect<A | null, E, R>,
      withinMs: number
    ) => Effect.Effect<A | null, E, R>
  }
>()("@weft/core/runtime/control/StreamWatch") {
  static readonly layer = Layer.effect(
    StreamWatch,
    Effect.gen(function* () {
      const bus = yield* ClusterBus
      const waiting = new Map<StreamId, Set<Latch.Latch>>()

      const wake = ({ stream_id }: ActivityEvent): void => {
        for (const latch of waiting.get(stream_id) ?? []) latch.openUnsafe()
      }

      const busSubscription = yield* RcRef.make({
        idleTimeToLive: lingerMs,
        acquire: Effect.gen(function* () {
          const activity = yield* bus.activity
          yield* PubSub.takeAll(activity).pipe(
            Effect.flatMap((messages) => Effect.sync(() => messages.forEach(wake))),
            Effect.forever,
            Effect.forkScoped
          )
        })
      })

      const makeLatch = (streamId: StreamId) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const latch = Latch.makeUnsafe(false)
            waiting.set(streamId, (waiting.get(streamId) ?? new Set()).add(latch))
            return latch
          }),
          (latch) =>
            Effect.sync(() => {
              const latches = waiting.get(streamId)
              latches?.delete(latch)
              if (latches?.size === 0) waiting.delete(streamId)
            })
        )

      return StreamWatch.of({
        until: (streamId, query, withinMs) =>
          Effect.gen(function* () {
            const end = (yield* Clock.currentTimeMillis) + withinMs
            const latch = yield* makeLatch(streamId)
            yield* RcRef.get(busSubscription)
            while (true) {
              latch.closeUnsafe()
              const found = yield* query
              const remainingMs = end - (yield* Clock.currentTimeMillis)
              if (found !== null || remainingMs <= 0) return found
              yield* Effect.timeoutOption(latch.await, Math.min(remainingMs, pollIntervalMs))
            }
          }).pipe(Effect.scoped)
      })
    })
  )
}
