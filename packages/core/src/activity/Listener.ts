/** Keeping a node's snapshots true: what to do about news. */
import { Effect, PubSub, type Scope } from "effect"
import { Feed } from "./Feed.ts"
import type { News } from "./News.ts"

/** Runs `handle` on all news from now on, in order, until the scope closes. */
export const listen = (
  handle: (message: News) => Effect.Effect<void>
): Effect.Effect<void, never, Feed | Scope.Scope> =>
  Effect.gen(function* () {
    const feed = yield* Feed
    const news = yield* feed.news
    yield* PubSub.takeAll(news).pipe(
      Effect.flatMap((messages) => Effect.forEach(messages, handle, { discard: true })),
      Effect.forever,
      Effect.forkScoped
    )
  })
