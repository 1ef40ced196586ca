/**
 * How news travels: between the parts of a node, and between nodes where an adapter carries it.
 *
 * A feed may lose messages (a node was away); whoever relies on it also has an age limit or a slow poll.
 */
import { Context, type Effect, type PubSub, type Scope } from "effect"
import type { Activity, Invalidation } from "./Activity.ts"

export type FeedMessage = Activity | Invalidation | { readonly type: "deliveries:waiting" }

export class Feed extends Context.Service<
  Feed,
  {
    /** Returns at once; subscribers see the messages of one publisher in order. */
    readonly publish: (messages: ReadonlyArray<FeedMessage>) => Effect.Effect<void>
    /** Everything published from now on, until the scope closes. A subscriber that lags more than 10,000 messages loses the oldest. */
    readonly subscribe: Effect.Effect<PubSub.Subscription<FeedMessage>, never, Scope.Scope>
  }
>()("@weft/core/activity/Feed") {}
