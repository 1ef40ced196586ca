/**
 * Messages between the parts of a node, and between nodes if an adapter carries them.
 *
 * A bus may lose messages of other nodes, for example while this node is disconnected. It reports the gap afterwards,
 * and subscribers catch up from the store. In addition, every subscriber has an age limit or a slow poll.
 */
import { Context, type Effect, type PubSub, Schema, type Scope } from "effect"
import type { Reading } from "../../foundation/telemetry/NodeMetrics.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ActivityEvent } from "./ActivityEvent.ts"
import type { ControlMessage } from "./ControlMessage.ts"

/** A period, from `since` until now, in which messages of other nodes may have been lost. */
export interface Gap {
  readonly since: Timestamp
  /** `activity`: other nodes sent no activity, because this node had no subscribers. Control messages have arrived. */
  readonly of: "activity" | "everything"
}

export class ClusterBus extends Context.Service<
  ClusterBus,
  {
    /** True if activity may have subscribers on any node. If not, messages need not be built. */
    readonly hasSubscribers: () => boolean
    /** Publishes without waiting. Subscribers receive the messages of one publisher in order. */
    readonly publish: (messages: ReadonlyArray<ActivityEvent>) => Effect.Effect<void>
    /** Subscribes to all activity until the scope closes. A subscriber that lags more than 10,000 messages loses the oldest. */
    readonly activity: Effect.Effect<PubSub.Subscription<ActivityEvent>, never, Scope.Scope>
    /** As `publish`, for control messages. Separate from activity, which is frequent and usually has no subscribers. */
    readonly sendControl: (messages: ReadonlyArray<ControlMessage>) => Effect.Effect<void>
    /** As `activity`, for control messages. */
    readonly control: Effect.Effect<PubSub.Subscription<ControlMessage>, never, Scope.Scope>
    /** Subscribes to gaps until the scope closes. A single node never has any. */
    readonly gaps: Effect.Effect<PubSub.Subscription<Gap>, never, Scope.Scope>
    /** Returns the start of the current outage, or null while connected. A gap follows the reconnect. */
    readonly disconnectedSince: () => Timestamp | null
    /** Metrics of the bus. */
    readonly metrics: Reading
  }
>()("@weft/core/platform/cluster/ClusterBus") {}

/** The bus cannot be opened: its server is unreachable or refuses this node. */
export class ClusterUnusable extends Schema.TaggedError<ClusterUnusable>()("ClusterUnusable", {
  reason: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `The bus cannot be used: ${this.reason}`
  }
}
