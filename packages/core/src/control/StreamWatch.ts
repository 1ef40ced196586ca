/**
 * Waiting for something to become true on a stream.
 *
 * Activity says when to look, and the store what there is: news that is lost costs a moment, and what was true before
 * anybody watched is found at the first look. While nobody waits, nobody listens.
 */
import { Clock, Context, Effect, Latch, Layer, PubSub, RcRef } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed } from "../activity/Feed.ts"
import type { StreamId } from "../ids/Ids.ts"

/** Between looks when nothing is heard: another node may have been the one that did it. */
const patienceMs = 1_000

/** How long to go on listening when the last one has stopped to wait. */
const lingerMs = 5_000

export class StreamWatch extends Context.Service<
  StreamWatch,
  {
    /**
     * Looks now and whenever something happens on the stream, until `look` gives something or the time is over; then
     * null.
     */
    readonly until: <A, E, R>(
      streamId: StreamId,
      look: Effect.Effect<A | null, E, R>,
      withinMs: number
    ) => Effect.Effect<A | null, E, R>
  }
>()("@weft/core/runs/StreamWatch") {
  static readonly layer = Layer.effect(
    StreamWatch,
    Effect.gen(function* () {
      const feed = yield* Feed
      const waiting = new Map<StreamId, Set<Latch.Latch>>()

      const wake = ({ stream_id }: Activity): void => {
        for (const latch of waiting.get(stream_id) ?? []) latch.openUnsafe()
      }

      const listening = yield* RcRef.make({
        idleTimeToLive: lingerMs,
        acquire: Effect.gen(function* () {
          const activity = yield* feed.activity
          yield* PubSub.takeAll(activity).pipe(
            Effect.flatMap((messages) => Effect.sync(() => messages.forEach(wake))),
            Effect.forever,
            Effect.forkScoped
          )
        })
      })

      const wakeable = (streamId: StreamId) =>
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
        until: (streamId, look, withinMs) =>
          Effect.gen(function* () {
            const end = (yield* Clock.currentTimeMillis) + withinMs
            const latch = yield* wakeable(streamId)
            yield* RcRef.get(listening)
            while (true) {
              latch.closeUnsafe()
              const found = yield* look
              const left = end - (yield* Clock.currentTimeMillis)
              if (found !== null || left <= 0) return found
              yield* Effect.timeoutOption(latch.await, Math.min(left, patienceMs))
            }
          }).pipe(Effect.scoped)
      })
    })
  )
}
