/**
 * How news travels: between the parts of a node, and between nodes where an adapter carries it.
 *
 * A feed may lose messages of other nodes (this one was away). It says so afterwards, and whoever relies on it makes up
 * for that from the store; besides, everybody has an age limit or a slow poll.
 */
import { Context, type Effect, type PubSub, Schema, type Scope } from "effect"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Reading } from "../metrics/NodeMetrics.ts"
import type { Activity } from "./Activity.ts"
import type { News } from "./News.ts"

/** Messages of other nodes since `since` may have been lost. What they send from now on arrives. */
export interface Gap {
  readonly since: Timestamp
  /** `activity`: there was nobody here to hear it, and so nobody told; news has arrived. */
  readonly of: "activity" | "everything"
}

export class Feed extends Context.Service<
  Feed,
  {
    /** Whether somebody may hear what is published now. Where nobody does, messages need not even be built. */
    readonly isHeard: () => boolean
    /** Returns at once; subscribers see the messages of one publisher in order. */
    readonly publish: (messages: ReadonlyArray<Activity>) => Effect.Effect<void>
    /** All activity from now on, until the scope closes. A subscriber that lags more than 10,000 messages loses the oldest. */
    readonly activity: Effect.Effect<PubSub.Subscription<Activity>, never, Scope.Scope>
    /** As `publish`, for news. Apart from activity, of which there is much, and which mostly nobody listens to. */
    readonly tell: (news: ReadonlyArray<News>) => Effect.Effect<void>
    /** As `activity`, for news. */
    readonly news: Effect.Effect<PubSub.Subscription<News>, never, Scope.Scope>
    /** Gaps from now on, until the scope closes; none where there are no other nodes. */
    readonly gaps: Effect.Effect<PubSub.Subscription<Gap>, never, Scope.Scope>
    /** Since when messages of other nodes do not arrive; null while they do. A gap follows when they do again. */
    readonly awaySince: () => Timestamp | null
    /** What it has counted of itself. */
    readonly counted: Reading
  }
>()("@weft/core/activity/Feed") {}

/** The feed cannot be opened: what is between the nodes cannot be reached, or refuses this one. */
export class FeedUnusable extends Schema.TaggedError<FeedUnusable>()("FeedUnusable", {
  reason: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `The feed cannot be used: ${this.reason}`
  }
}
