/** Keeping a node's snapshots true: what to do about news, and where some may have been lost. */
import { Effect, PubSub, type Scope } from "effect"
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
    yield* PubSub.takeAll(news).pipe(
      Effect.flatMap((messages) => Effect.forEach(messages, handle, { discard: true })),
      Effect.forever,
      Effect.forkScoped
    )
    yield* PubSub.takeAll(gaps).pipe(
      Effect.flatMap((some) => (some.some((gap) => gap.of === "everything") ? lost : Effect.void)),
      Effect.forever,
      Effect.forkScoped
    )
  })
