/**
 * How much of its rate each organization has used, on all nodes together.
 *
 * However many nodes ask, and however their requests come: in any time, no more are let through than the rate allows in
 * it, and a second's worth. (Where clocks of nodes differ, the time by which they do counts with it.) A node that asks
 * alone gets all of that. Nodes may take some in advance, for a fifth of a second; what a node took and does not use is
 * lost to the others, as is what nobody uses for a second.
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
     * full and gains as many in a second; with another rate than before it is full, at least once in 10 seconds. Gives 0
     * when there was one, else takes nothing and gives the milliseconds, from `now`, after which there is one, unless
     * another node takes it. A `now` before that of an earlier call counts as that one.
     */
    readonly take: (orgId: OrgId, perSecond: number, now: Timestamp) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/tenancy/RateStore") {}
