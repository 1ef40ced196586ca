/** Seam for reading pending deliveries, and the leases of the nodes that hold the others. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, NodeId } from "../../foundation/Ids.ts"
import type { PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { PendingDelivery, PendingFilter } from "./WaitReason.ts"

export class DeliveryStore extends Context.Service<
  DeliveryStore,
  {
    /** Lists pending deliveries in the order in which they are due; those that a group holds come last. */
    readonly list: (
      envId: EnvId,
      page: PageRequest,
      filter: PendingFilter
    ) => Effect.Effect<ReadonlyArray<PendingDelivery>, StoreUnavailable>
    /** Returns the number of pending deliveries, at most `limit`: counting a long backlog would block other statements. */
    readonly count: (envId: EnvId, filter: PendingFilter, limit: number) => Effect.Effect<number, StoreUnavailable>
    /**
     * Returns the time at which the lease of the node expired; null if it has not. A node without a lease at all counts as
     * expired at `now`. Always null on databases that only one node at a time can use.
     */
    readonly downSince: (nodeId: NodeId, now: Timestamp) => Effect.Effect<Timestamp | null, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/DeliveryStore") {}
