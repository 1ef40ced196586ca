/**
 * How news travels: between the parts of a node, and between nodes where an adapter carries it.
 *
 * A feed may lose messages (a node was away); whoever relies on it also has an age limit or a slow poll.
 */
import { Context, type Effect, type PubSub, type Scope } from "effect"
import type { NodeId, RunId } from "../ids/Ids.ts"
import type { Activity, Invalidation } from "./Activity.ts"

/** What the parts of a node, and nodes, tell each other so that they need not ask. */
export type News =
  | Invalidation
  /** Deliveries wait that `node_id` has no room for; null: that nobody has claimed. */
  | { readonly type: "deliveries:waiting"; readonly node_id: NodeId | null }
  /** There is a new schedule. */
  | { readonly type: "schedules:changed" }
  /** Runs of `node_id` were cancelled in the store; it is to stop them. */
  | { readonly type: "runs:cancelled"; readonly node_id: NodeId; readonly run_ids: ReadonlyArray<RunId> }

export class Feed extends Context.Service<
  Feed,
  {
    /** Returns at once; subscribers see the messages of one publisher in order. */
    readonly publish: (messages: ReadonlyArray<Activity>) => Effect.Effect<void>
    /** All activity from now on, until the scope closes. A subscriber that lags more than 10,000 messages loses the oldest. */
    readonly activity: Effect.Effect<PubSub.Subscription<Activity>, never, Scope.Scope>
    /** As `publish`, for news. Apart from activity, of which there is much, and which mostly nobody listens to. */
    readonly tell: (news: ReadonlyArray<News>) => Effect.Effect<void>
    /** As `activity`, for news. */
    readonly news: Effect.Effect<PubSub.Subscription<News>, never, Scope.Scope>
  }
>()("@weft/core/activity/Feed") {}
