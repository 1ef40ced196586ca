/** Keeping a node's snapshots true: what to do about news, and where some may have been lost. */
import { Effect, PubSub, type Scope } from "effect"
import { forkLasting } from "../errors/Lasting.ts"
import { Feed } from "./Feed.ts"
import type { News } from "./News.ts"

/**
 * Runs `handle` on all news from now on, in order, until the scope closes; `lost` where news may have been lost, for
 * which it must do whatever any news would have it do.
 */
export const listen = (
  handle: (message: News) => Effect.Effect<void>,
  lost: Effect.Effect<void>
): Effect.Effect<void, never, Feed | Scope.Scope> =>
  Effect.gen(function* () {
    const feed = yield* Feed
    const news = yield* feed.news
    const gaps = yield* feed.gaps
    yield* forkLasting(
      { name: "A listener to news" },
      Effect.flatMap(PubSub.takeAll(news), (messages) => Effect.forEach(messages, handle, { discard: true }))
    )
    yield* forkLasting(
      { name: "A listener to gaps in the news" },
      Effect.flatMap(PubSub.takeAll(gaps), (some) => (some.some((gap) => gap.of === "everything") ? lost : Effect.void))
    )
  })
