/**
 * The durable side of running: events in, deliveries out, runs recorded.
 *
 * Each method is one transaction, but for a claim that lets others in first, which may be two. The fence of a delivery is the id of its current run: a claim puts a new
 * run there, and only who still holds that run may settle it. So a node that was taken for dead and comes
 * back can write nothing.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import type { DeliveryId, EnvId, NodeId, RunId } from "../ids/Ids.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Delivery } from "../runs/Delivery.ts"
import type { Group } from "../runs/Group.ts"
import type { LogEntry, Run } from "../runs/Run.ts"

export type JournalEntry =
  /** A published event. A delivery with a `run` is born claimed by that run's node; one without waits. */
  | {
      readonly _tag: "Appended"
      readonly event: Event
      readonly deliveries: ReadonlyArray<{ readonly delivery: Delivery; readonly run: Run | null }>
    }
  /** A run without a delivery has begun. */
  | { readonly _tag: "Started"; readonly run: Run }
  /** A run without a delivery is over; `run.status` is final. Stored whole when `Started` never was. */
  | { readonly _tag: "Ended"; readonly run: Run; readonly logs: ReadonlyArray<LogEntry> }
  /** An attempt of a delivery is over: the delivery goes, or waits for the next attempt. */
  | {
      readonly _tag: "Settled"
      readonly run: Run
      readonly logs: ReadonlyArray<LogEntry>
      readonly deliveryId: DeliveryId
      readonly next: { readonly attempt: number; readonly due_at: Timestamp; readonly first_run_id: RunId } | null
    }

/** Keeps the node alive in the eyes of the others until `until`. */
export interface Lease {
  readonly node_id: NodeId
  readonly until: Timestamp
}

/** What a node knows to be its own. */
export interface Own {
  /** Runs that began later are left alone. */
  readonly before: Timestamp
  readonly known: ReadonlyArray<RunId>
}

export interface ClaimRequest {
  readonly lease: Lease
  readonly now: Timestamp
  /** Ids for the runs of the claim, ascending; at most as many deliveries are claimed. 1 to 1000. */
  readonly runIds: ReadonlyArray<RunId>
  /** At most so many deliveries of one environment, so that no backlog starves another's. */
  readonly perEnv: number
  /** Environments that have no room on this node now. */
  readonly exclude: ReadonlyArray<EnvId>
  /** Groups of which runs have ended: what is parked there is let in first, as `unpark` would. */
  readonly freed: ReadonlyArray<Group>
}

export interface Claim {
  readonly delivery: Delivery
  readonly event: Event
  /** As stored: `running`, with `start_time` = `now`. */
  readonly run: Run
}

export interface ClaimResult {
  readonly claims: ReadonlyArray<Claim>
  /** How many deliveries were due and are parked from now on, because their groups have no room. */
  readonly parked: number
  /** How many deliveries of `freed` were let in, and so may be among the claims, or due for whoever has room. */
  readonly unparked: number
  /**
   * When the next waiting delivery is due, `now` or earlier if some were left behind; null when none waits. Those of
   * excluded environments and parked ones are left out.
   */
  readonly next_due_at: Timestamp | null
}

/** What a look at the store found that somebody should see to. */
export interface Sight {
  /** Whether `reap` would find something. */
  readonly orphans: boolean
  /** When the next delivery is due that waits and is not parked; null when none does. */
  readonly next_due_at: Timestamp | null
  /** Whether deliveries are parked. */
  readonly parked: boolean
  /** When the next schedule fires; null when there is none. */
  readonly next_tick_at: Timestamp | null
}

export class JournalStore extends Context.Service<
  JournalStore,
  {
    /** How many commits of a node may be under way at once: 1 where nothing is won by more. */
    readonly commitsMax: number

    /**
     * Applies the entries in order and, if given, the lease, in one transaction; durable when it returns. For each
     * entry, whether it counted: a `Settled` or `Ended` of a run that is no longer running changes nothing and gives
     * false; everything else gives true. An `Appended` event or a `Started` run that is already stored is kept as it is.
     */
    readonly commit: (
      entries: ReadonlyArray<JournalEntry>,
      lease: Lease | null
    ) => Effect.Effect<ReadonlyArray<boolean>, StoreUnavailable>

    /**
     * Takes due deliveries, at most `runIds.length`, fairly between environments and the longest due first within
     * one; stores their runs as `running`. Two concurrent claims never return the same delivery. Of those whose events are
     * large it takes only as many as `withinClaim` lets through.
     *
     * Of a group (`roomFor`) only the oldest of those that are due or parked are taken, as far as there is room beside
     * its running runs. Where a delivery had to be passed over for that, those of its group that are due and have no
     * room are parked.
     */
    readonly claim: (request: ClaimRequest) => Effect.Effect<ClaimResult, StoreUnavailable>

    /**
     * Makes parked deliveries of the groups due at `now`, the oldest first, as far as there is room beside what runs and
     * what is due. Gives how many. To be called when a run of a group has ended, where no claim does so; once more does
     * no harm.
     */
    readonly unpark: (groups: ReadonlyArray<Group>, now: Timestamp) => Effect.Effect<number, StoreUnavailable>

    /** The groups after `after` that have parked deliveries, at most `limit`, ascending by environment and key. */
    readonly parked: (after: Group | null, limit: number) => Effect.Effect<ReadonlyArray<Group>, StoreUnavailable>

    /**
     * Ends what dead nodes left: their running runs become `failed` with the error `NodeLost` and `stop_time` = `now`,
     * their deliveries wait again, due now, same attempt. A node is dead when its lease ended before `now`, or when
     * the store knows that nobody but `nodeId` can be using it. With `own`, running runs of `nodeId` itself that are not
     * known to it end likewise. Returns the runs that it ended, at most `limit`; call again until there are none.
     */
    readonly reap: (
      nodeId: NodeId,
      now: Timestamp,
      limit: number,
      own?: Own
    ) => Effect.Effect<ReadonlyArray<Run>, StoreUnavailable>

    /** Looks for what there is to do and changes nothing: one statement, because idle nodes look, too. */
    readonly look: (nodeId: NodeId, now: Timestamp) => Effect.Effect<Sight, StoreUnavailable>

    /**
     * Ends the node's lease: it goes, and what it should still hold is for the others to reap. A commit or a claim with
     * a lease begins a new one.
     */
    readonly leave: (nodeId: NodeId) => Effect.Effect<void, StoreUnavailable>

    /**
     * Removes runs of the environment that have ended and whose ids are less than `before`, the least first, with their
     * logs; events stay. At most `limit`, and fewer where they are large, so that others can write soon. Gives how many
     * it removed; call again until that is 0.
     */
    readonly purge: (envId: EnvId, before: RunId, limit: number) => Effect.Effect<number, StoreUnavailable>

    /**
     * Removes at once what may go, where the database keeps runs of the same time together: ended runs whose ids are
     * less than what `before` has for their environment. Leaves what it likes to `purge`. Gives how many it removed.
     */
    readonly purgeWhole: (before: ReadonlyMap<EnvId, RunId>) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/runs/JournalStore") {}
