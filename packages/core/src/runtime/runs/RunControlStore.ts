/**
 * Seam for cancelling running runs, for discarding pending deliveries, and for storing logs.
 *
 * Each method is one transaction. Cancelling a run deletes its delivery, so that no node can settle it and no further
 * attempt follows.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { DeliveryId, EnvId, EventId, ProjectId, RunId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Event } from "../events/Event.ts"
import type { Delivery } from "./Delivery.ts"
import type { DeliveryPosition, DeliverySelection, DiscardResult } from "./DeliverySelection.ts"
import type { StoredOperation } from "./Operation.ts"
import type { OperationStep } from "./OperationStep.ts"
import type { LogEntry, Run, RunStatus, RunType } from "./Run.ts"

/** Selects running runs of an environment. Each field restricts the selection. */
export interface RunSelection {
  readonly runId?: RunId
  readonly projectId?: ProjectId
  readonly type?: RunType
  /** Only runs that started at or after this instant. */
  readonly since?: Timestamp
  /** Only runs that started at or before this instant. */
  readonly until?: Timestamp
  readonly eventId?: EventId
  /** Only runs of functions with one of these names: `ns/var`, or `project:ns/var` with the project's name at that time. */
  readonly functions?: ReadonlyArray<string>
  /** Only these runs. */
  readonly runIds?: ReadonlyArray<RunId>
}

export type RunRef = Pick<Run, "env_id" | "run_id">

export interface RunLog extends RunRef {
  readonly entries: ReadonlyArray<LogEntry>
}

/** A cancelled run, and the group key of its delivery. */
export interface CancelledRun {
  readonly run: Run
  readonly group: string | null
  /** Events of the child runs that it waited for. */
  readonly children: ReadonlyArray<EventId>
}

/** An operation after a step. */
export interface OperationProgress {
  readonly operation: StoredOperation
  /** The runs that the step ended. */
  readonly cancelled: ReadonlyArray<CancelledRun>
}

/** The end of a durable run, and the start of the next one. */
export interface Renewal {
  /** The ended run. */
  readonly run: Run
  readonly logs: ReadonlyArray<LogEntry>
  /** The delivery that the run holds. */
  readonly deliveryId: DeliveryId
  /** The event that starts the next run. */
  readonly event: Event
  readonly delivery: Delivery
}

/** A durable run that begins with results of another one. */
export interface Fork {
  /** The new run, suspended. */
  readonly run: Run
  /** Its delivery, which continues it. */
  readonly delivery: Delivery
  readonly source: RunRef
  /** Only results before this position are copied. */
  readonly before: number
}

export class RunControlStore extends Context.Service<
  RunControlStore,
  {
    /**
     * Ends running runs as `cancelled` at `at`, at most `limit`, and deletes their deliveries. Returns the runs that this
     * call ended. Their stored logs stay.
     */
    readonly cancel: (
      envId: EnvId,
      which: RunSelection,
      at: Timestamp,
      limit: number
    ) => Effect.Effect<ReadonlyArray<CancelledRun>, StoreUnavailable>

    /**
     * Requests that a durable run cleans up until `until` at the latest, and then ends as `cancelled`. Its delivery is due at
     * `at` if it is suspended. A cleanup that was requested before keeps its end. Returns the run; null if no such durable
     * run is running.
     */
    readonly requestCleanup: (
      run: RunRef,
      until: Timestamp,
      at: Timestamp
    ) => Effect.Effect<Run | null, StoreUnavailable>

    /**
     * Examines at most `limit` pending deliveries of the environment, in the order of their due times after `after`, and
     * discards the selected ones. Keeps those of suspended runs. May leave deliveries that another transaction is changing. Call it again with `next`
     * until that is null.
     */
    readonly discard: (
      envId: EnvId,
      which: DeliverySelection,
      after: DeliveryPosition | null,
      limit: number
    ) => Effect.Effect<DiscardResult, StoreUnavailable>

    /**
     * Replaces the stored logs of runs, except of runs that succeeded or failed. Returns the status of each run; null if
     * the run is not stored.
     */
    readonly log: (logs: ReadonlyArray<RunLog>) => Effect.Effect<ReadonlyArray<RunStatus | null>, StoreUnavailable>

    /** Returns those of the runs that are stored as ended. */
    readonly ended: (runs: ReadonlyArray<RunRef>) => Effect.Effect<ReadonlyArray<RunId>, StoreUnavailable>

    /** Adds a pending delivery of a stored event. */
    readonly redeliver: (delivery: Delivery) => Effect.Effect<void, StoreUnavailable>

    /**
     * Ends a durable run, and stores the event and the delivery of the next one. A wait for the run is from then on a wait for
     * the next one. Returns false, and changes nothing, if the run does not hold the delivery. The same applies if the new
     * delivery is `awaited` and no run waits for this one.
     */
    readonly renew: (renewal: Renewal) => Effect.Effect<boolean, StoreUnavailable>

    /**
     * Stores a batch of an operation, with its progress: cancels running runs and adds deliveries. Returns null, and changes
     * nothing, if the operation has ended, another node has taken it, or this batch is already stored.
     */
    readonly advance: (step: OperationStep) => Effect.Effect<OperationProgress | null, StoreUnavailable>

    /** Adds a suspended durable run with copies of the first results of another run of its environment. */
    readonly fork: (fork: Fork) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/RunControlStore") {}
