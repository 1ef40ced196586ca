/**
 * Token buckets of the organizations, shared by all nodes.
 *
 * In any period, all nodes together admit at most `rate × (period + 1 second)` requests. The clock difference between
 * nodes adds to the period. A node may reserve tokens for 200 ms in advance. Reserved tokens that it does not use are
 * lost to the other nodes. Tokens that no node uses within a second are lost to all. A single active node gets the
 * whole rate.
 *
 * The in-memory store counts for one process, which is correct if that process owns the database. A database with
 * several nodes needs a shared store, or each node would grant the whole rate.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { OrgId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"

export class RateStore extends Context.Service<
  RateStore,
  {
    /**
     * Takes one token from the organization's bucket. Returns 0, or, if the bucket is empty, the milliseconds from `now`
     * until the next token, which another node may take first.
     *
     * The bucket holds `perSecond` tokens (an integer, at least 1) and refills at that rate. A change of the rate fills
     * the bucket, at least once in 10 seconds. A `now` that is earlier than that of a previous call counts as that one.
     */
    readonly take: (orgId: OrgId, perSecond: number, now: Timestamp) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/tenants/orgs/RateStore") {}
