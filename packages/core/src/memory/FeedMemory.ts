/** `Feed` within one process: complete for a single node, since it has nobody else to tell. */
import { Effect, Layer } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed, type Gap } from "../activity/Feed.ts"
import { localChannel } from "../activity/LocalChannel.ts"
import type { News } from "../activity/News.ts"

export const layer: Layer.Layer<Feed> = Layer.effect(
  Feed,
  Effect.gen(function* () {
    const activity = yield* localChannel<Activity>()
    const news = yield* localChannel<News>()
    const gaps = yield* localChannel<Gap>()
    return Feed.of({
      isHeard: activity.isHeard,
      publish: activity.publish,
      activity: activity.subscribe,
      tell: news.publish,
      news: news.subscribe,
      gaps: gaps.subscribe,
      awaySince: () => null,
      counted: Effect.succeed([])
    })
  })
)
