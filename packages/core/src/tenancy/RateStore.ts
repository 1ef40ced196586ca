/**
 * How much of its rate each organization has used: the state of a token bucket.
 *
 * The one in memory counts for a single process, which is right for a database that one process owns. A database
 * that several nodes share brings a store that they share as well, or each node would grant the whole rate.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { OrgId } from "../ids/Ids.ts"
import type { Timestamp } from "../ids/Timestamp.ts"

export class RateStore extends Context.Service<
  RateStore,
  {
    /**
     * Takes one request from the organization's bucket, which holds `perSecond` (an integer, at least 1) when it is
     * full and gains as many in a second; with another rate than before it is full. Gives 0 when there was one, else takes nothing and gives the milliseconds,
     * from `now`, after which there is one. A `now` before that of an earlier call counts as that one.
     */
    readonly take: (orgId: OrgId, perSecond: number, now: Timestamp) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/tenancy/RateStore") {}
