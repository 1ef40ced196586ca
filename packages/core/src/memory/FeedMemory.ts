/** `Feed` within one process: complete for a single node, since it has nobody else to tell. */
import { Effect, Layer, PubSub } from "effect"
import { Feed, type FeedMessage } from "../activity/Feed.ts"

/** Messages that a subscriber may lag before it loses the oldest. */
const lagMax = 10_000

export const layer: Layer.Layer<Feed> = Layer.effect(
  Feed,
  Effect.gen(function* () {
    const hub = yield* Effect.acquireRelease(PubSub.sliding<FeedMessage>(lagMax), PubSub.shutdown)
    let subscribers = 0

    return Feed.of({
      // Runs publish several messages each, and most of the time nobody listens.
      publish: (messages) =>
        Effect.suspend(() => (subscribers === 0 ? Effect.void : Effect.asVoid(PubSub.publishAll(hub, messages)))),

      subscribe: Effect.acquireRelease(
        Effect.sync(() => void subscribers++),
        () => Effect.sync(() => void subscribers--)
      ).pipe(Effect.andThen(PubSub.subscribe(hub)))
    })
  })
)
