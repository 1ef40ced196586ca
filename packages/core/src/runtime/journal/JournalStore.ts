/**
 * Seam for the durable state of events, deliveries and runs.
 *
 * Each method is one transaction; a claim that also unparks deliveries may be two. The fence of a delivery is the id of
 * its current run. A claim stores a new run id, and only the node with that run may settle it. A node that was
 * considered dead and continues can therefore write nothing.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { BuildId, DeliveryId, EnvId, NodeId, ProjectId, RunId } from "../../foundation/Ids.ts"
import type { JsonText } from "../../foundation/JsonText.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Event } from "../events/Event.ts"
import type { Delivery } from "../runs/Delivery.ts"
import type { Group } from "../runs/Group.ts"
import type { Pause } from "../runs/Pause.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import type { StepRecord, WaitRecord } from "../runs/Workflow.ts"
import type { RunCountBatch } from "./RunCountBatch.ts"

export type JournalEntry =
  /** A published event. A delivery with a `run` is already claimed by that run's node; one without is pending. */
  | {
      readonly _tag: "Appended"
      readonly event: Event
      readonly deliveries: ReadonlyArray<{ readonly delivery: Delivery; readonly run: Run | null }>
    }
  /** The start of a run without a delivery. */
  | { readonly _tag: "Started"; readonly run: Run }
  /** The end of a run without a delivery; `run.status` is final. Stores the complete run if `Started` was not stored. */
  | { readonly _tag: "Ended"; readonly run: Run; readonly logs: ReadonlyArray<LogEntry> }
  /** The end of an attempt: the delivery is removed, or is pending until the next attempt. */
  | {
      readonly _tag: "Settled"
      readonly run: Run
      readonly logs: ReadonlyArray<LogEntry>
      readonly deliveryId: DeliveryId
      readonly next: NextAttempt | null
      /** The delivery becomes a dead letter. */
      readonly isDead?: true
      /** Stored exactly if the entry counts. */
      readonly followUp?: FollowUp
    }
  /**
   * Progress of a durable run: results that its function received, new waits, and its suspension. Counts only while the run
   * holds `deliveryId`. A step ends the wait with its `seq`.
   */
  | {
      readonly _tag: "Advanced"
      readonly run: Run
      readonly deliveryId: DeliveryId
      readonly at: Timestamp
      readonly steps: ReadonlyArray<StepRecord>
      readonly waits: ReadonlyArray<WaitRecord>
      readonly suspension: Suspension | null
    }

/** The next attempt of a delivery. */
export interface NextAttempt {
  readonly attempt: number
  readonly due_at: Timestamp
  readonly first_run_id: RunId
  /** Build of the attempt; that of the run by default. */
  readonly build_id?: BuildId
}

/** An event about the end of a run, with its pending deliveries. */
export interface FollowUp {
  readonly event: Event
  readonly deliveries: ReadonlyArray<Delivery>
}

/**
 * Releases the delivery of a durable run. It is due at `due_at`. It is due at once if one of the run's waits has an outcome,
 * or if `cleanup_until` is not that of the run.
 */
export interface Suspension {
  readonly due_at: Timestamp
  /** End of the requested cleanup that the activation knows; null if it knows none. */
  readonly cleanup_until: Timestamp | null
  readonly waiting: JsonText
  readonly logs: ReadonlyArray<LogEntry>
}

/** Lease of a node. Other nodes consider it alive until `until`. */
export interface Lease {
  readonly node_id: NodeId
  readonly until: Timestamp
}

/** The runs that a node knows as its own. */
export interface LocalRunSet {
  /** Runs that began or continued later are ignored. */
  readonly before: Timestamp
  /** Ids of runs. A run that continues has the id of the delivery that it holds. */
  readonly known: ReadonlyArray<RunId>
}

export interface ClaimRequest {
  readonly lease: Lease
  readonly now: Timestamp
  /** Ids for the runs of the claim, ascending, 1 to 1000. At most as many deliveries are claimed. */
  readonly runIds: ReadonlyArray<RunId>
  /** Maximum deliveries per environment, so that no backlog starves another environment. */
  readonly perEnv: number
  /** Environments without a free slot on this node. */
  readonly exclude: ReadonlyArray<EnvId>
  /** Active pauses that the node knows; none by default. */
  readonly paused?: ReadonlyArray<Pause>
  /** Groups with ended runs. Their parked deliveries are unparked first, as by `unpark`. */
  readonly freed: ReadonlyArray<Group>
}

export interface Claim {
  readonly delivery: Delivery
  readonly event: Event
  /**
   * As stored: `running`, with `start_time` = `now`. If the delivery continues a run, that run: `delivery_id` is then new, so
   * that an earlier holder of the run can no longer write.
   */
  readonly run: Run
}

export interface ClaimResult {
  readonly claims: ReadonlyArray<Claim>
  /** Number of due deliveries that were parked because their groups are full, that throttles postponed, or that pauses hold. */
  readonly parked: number
  /** Number of unparked deliveries of `freed`. They are among the claims, or due for any node with a free slot. */
  readonly unparked: number
  /**
   * Due time of the next pending delivery; `now` or earlier if due ones remain. Null if no delivery is pending. Excluded
   * environments and parked deliveries do not count, but if many deliveries of excluded environments come next, the time
   * may be earlier.
   */
  readonly next_due_at: Timestamp | null
}

/** Pending work in the store, as of one poll. */
export interface PendingWork {
  /** True if `reap` would find runs. */
  readonly orphans: boolean
  /** Due time of the next pending delivery that is not parked; null without one. */
  readonly next_due_at: Timestamp | null
  /** True if deliveries are parked. */
  readonly parked: boolean
  /** True if there are records of removed projects. */
  readonly removals: boolean
  /** True if durable runs wait for events. */
  readonly awaiting: boolean
  /** True if durable runs wait for child runs. */
  readonly invoking: boolean
  /** Next tick of any schedule; null without one. */
  readonly next_tick_at: Timestamp | null
  /** True if an operation has not ended and no node holds it. */
  readonly operations: boolean
  /** Next evaluation of any alert rule; null without one. */
  readonly next_alert_at: Timestamp | null
  /** `versionOf` all pauses. */
  readonly pauses_version: string
  /** `canariesVersion` of all canaries. */
  readonly canaries_version: string
}

/** The function of a project whose runs are purged. */
export interface PurgedFunction {
  readonly project_id: ProjectId
  readonly ns: string
  readonly var: string
}

export class JournalStore extends Context.Service<
  JournalStore,
  {
    /** Maximum concurrent commits of a node; 1 if the store gains nothing from more. */
    readonly commitsMax: number

    /**
     * Applies the entries in order and, if given, the lease, durably in one transaction. Returns true for each entry that
     * counted. A `Settled` or `Ended` of a run that is no longer running changes nothing and yields false. So does a `Settled`
     * that would end a run with a requested cleanup other than as `cancelled`. An `Appended`
     * event or a `Started` run that is already stored stays as it is, and counts.
     */
    readonly commit: (
      entries: ReadonlyArray<JournalEntry>,
      lease: Lease | null
    ) => Effect.Effect<ReadonlyArray<boolean>, StoreUnavailable>

    /**
     * Adds runs to the usage of their month, in one transaction. Does nothing if the store has this batch or a later one of
     * the node, so a batch whose result is unknown can be repeated.
     */
    readonly count: (batch: RunCountBatch) => Effect.Effect<void, StoreUnavailable>

    /**
     * Claims at most `runIds.length` due deliveries and stores their runs as `running`. Environments share claims
     * fairly; within one, the longest due delivery is first. Two concurrent claims never return the same delivery.
     * `takeWithinBudget` limits deliveries of large events.
     *
     * Of a group, only the oldest due or parked deliveries are claimed, as many as `roomFor` allows next to its running
     * runs. If a delivery had to be skipped for that, the due deliveries of its group above the limit are parked.
     * Deliveries that their throttles do not allow to start are due later, as `throttle` decides. Those that one of `paused`
     * covers are held, if it is still active in the store.
     */
    readonly claim: (request: ClaimRequest) => Effect.Effect<ClaimResult, StoreUnavailable>

    /**
     * Makes parked deliveries of the groups due at `now`, the oldest first, as many as the limit allows next to running
     * and due ones. Returns their number. Call it when a run of a group has ended and no claim follows. Idempotent.
     */
    readonly unpark: (groups: ReadonlyArray<Group>, now: Timestamp) => Effect.Effect<number, StoreUnavailable>

    /** Lists groups after `after` that have parked deliveries, at most `limit`, ascending by environment and key. */
    readonly parked: (after: Group | null, limit: number) => Effect.Effect<ReadonlyArray<Group>, StoreUnavailable>

    /**
     * Ends runs of dead nodes: they become `failed` with the error `NodeLost` and `stop_time` = `now`. Their deliveries
     * are pending again, due now, with the same attempt. Durable runs stay `running` instead: they are suspended, due now. A
     * node is dead if its lease ended before `now`, or if the store
     * knows that only `nodeId` can be using it. With `own`, also ends running runs of `nodeId` that the node does not
     * know. Returns the ended and suspended runs, at most `limit`; call again until it returns no run.
     */
    readonly reap: (
      nodeId: NodeId,
      now: Timestamp,
      limit: number,
      own?: LocalRunSet
    ) => Effect.Effect<ReadonlyArray<Run>, StoreUnavailable>

    /** Reads pending work in one statement without a transaction, because idle nodes also poll. */
    readonly findPendingWork: (nodeId: NodeId, now: Timestamp) => Effect.Effect<PendingWork, StoreUnavailable>

    /**
     * Ends the lease of a node that shuts down, so that other nodes reap its remaining runs at once. A commit or a claim
     * with a lease begins a new one.
     */
    readonly endLease: (nodeId: NodeId) => Effect.Effect<void, StoreUnavailable>

    /**
     * Removes ended runs of the environment with ids less than `before`, in ascending order, with their logs; events
     * stay. Removes at most `limit`, fewer if they are large, so that other writers do not wait long. Returns the number
     * of removed runs; call again until that is 0. With `of`, only runs of this function.
     */
    readonly purge: (
      envId: EnvId,
      before: RunId,
      limit: number,
      of?: PurgedFunction
    ) => Effect.Effect<number, StoreUnavailable>

    /**
     * Removes ended runs with ids less than those in `before` for their environment, whole partitions at a time, if the
     * database is partitioned by time. May leave runs to `purge`. Returns the number of removed runs.
     */
    readonly purgeWhole: (before: ReadonlyMap<EnvId, RunId>) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/runtime/journal/JournalStore") {}
