/** Subscriptions to streams, for the host, as async iterations. */
import { Cause, Effect, Stream } from "effect"
import type { ActivityEvent } from "../platform/cluster/ActivityEvent.ts"
import { Streams } from "../runtime/streams/Streams.ts"
import type { Subscription } from "../runtime/streams/Subscription.ts"
import type { Caller } from "../tenants/access/Caller.ts"

export interface HostStreams {
  /**
   * Iterates over the runs of the stream and their emitted messages, from the first `next()` until the iteration ends or
   * Weft closes. Rejects with `NotFound` for an empty stream. Rejects as well if the iteration lags by 1,000 messages.
   */
  readonly watch: (streamId: string) => AsyncIterable<ActivityEvent>
}

export const hostStreams = (run: <A, E>(effect: Effect.Effect<A, E, Streams | Caller>) => Promise<A>): HostStreams => ({
  watch: async function* (streamId) {
    const subscribed = Streams.use((streams) => streams.ofStream(streamId))
    yield* await run(Stream.toAsyncIterableEffect(Stream.unwrap(Effect.map(subscribed, toActivityStream))))
  }
})

const toActivityStream = (subscription: Subscription): Stream.Stream<ActivityEvent> =>
  Stream.fromPull(
    Effect.succeed(
      Effect.flatMap(Effect.repeat(subscription.take, { while: (taken) => taken.length === 0 }), (taken) => {
        if (taken === "cut") return Effect.die(new Error("The iteration was too slow: it lagged by 1,000 messages"))
        if (typeof taken === "string") return Cause.done()
        const [first, ...rest] = taken.flat()
        return first === undefined
          ? Cause.done()
          : Effect.succeed([first.activity, ...rest.map((one) => one.activity)] as const)
      })
    )
  )
