/** Watching streams as an embedding program does it: async iteration. */
import { Cause, Effect, Stream } from "effect"
import type { Caller } from "./access/Caller.ts"
import type { Activity } from "./activity/Activity.ts"
import { Streams } from "./streams/Streams.ts"
import type { Subscription } from "./streams/Subscription.ts"

export interface HostStreams {
  /**
   * Runs of the stream and what they emit, from the first `next()` on, until the iteration is ended or Weft is closed.
   * Rejects with `NotFound` for a stream that nothing is in, and when the iteration is 1,000 messages behind.
   */
  readonly watch: (streamId: string) => AsyncIterable<Activity>
}

export const hostStreams = (run: <A, E>(effect: Effect.Effect<A, E, Streams | Caller>) => Promise<A>): HostStreams => ({
  watch: async function* (streamId) {
    const subscribed = Streams.use((streams) => streams.ofStream(streamId))
    yield* await run(Stream.toAsyncIterableEffect(Stream.unwrap(Effect.map(subscribed, activityOf))))
  }
})

const activityOf = (subscription: Subscription): Stream.Stream<Activity> =>
  Stream.fromPull(
    Effect.succeed(
      Effect.flatMap(Effect.repeat(subscription.take, { while: (news) => news.length === 0 }), (news) => {
        if (news === "cut") return Effect.die(new Error("The iteration was too slow"))
        if (typeof news === "string") return Cause.done()
        const [first, ...rest] = news.flat()
        return first === undefined
          ? Cause.done()
          : Effect.succeed([first.activity, ...rest.map((one) => one.activity)] as const)
      })
    )
  )
