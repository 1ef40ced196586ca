/** `Feed` within one process: complete for a single node, since it has nobody else to tell. */
import { Effect, Layer, PubSub } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed, type News } from "../activity/Feed.ts"

/** Messages that a subscriber may lag before it loses the oldest. */
const lagMax = 10_000

export const layer: Layer.Layer<Feed> = Layer.effect(
  Feed,
  Effect.gen(function* () {
    const activity = yield* channel<Activity>()
    const news = yield* channel<News>()
    return Feed.of({
      publish: activity.publish,
      activity: activity.subscribe,
      tell: news.publish,
      news: news.subscribe
    })
  })
)

const channel = Effect.fnUntraced(function* <Message>() {
  const hub = yield* Effect.acquireRelease(PubSub.sliding<Message>(lagMax), PubSub.shutdown)
  let subscribers = 0
  return {
    // Runs publish several messages each, and most of the time nobody listens.
    publish: (messages: ReadonlyArray<Message>) =>
      Effect.suspend(() => (subscribers === 0 ? Effect.void : Effect.asVoid(PubSub.publishAll(hub, messages)))),
    subscribe: Effect.acquireRelease(
      Effect.sync(() => void subscribers++),
      () => Effect.sync(() => void subscribers--)
    ).pipe(Effect.andThen(PubSub.subscribe(hub)))
  }
})
