/**
 * What is done to runs from outside while they go on.
 *
 * Each method is one transaction. A run that is cancelled has let go of its delivery, so that nobody can settle it
 * any more, and no other attempt follows.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId, EventId, RunId } from "../ids/Ids.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Delivery } from "./Delivery.ts"
import type { LogEntry, Run, RunStatus, RunType } from "./Run.ts"

/** Running runs of an environment. Each field narrows the choice. */
export interface RunSelection {
  readonly runId?: RunId
  readonly type?: RunType
  /** Only runs that started at or after this instant. */
  readonly since?: Timestamp
  /** Only runs that started at or before this instant. */
  readonly until?: Timestamp
  readonly eventId?: EventId
  /** Only runs of functions with one of these names: `ns/var`, or `project:ns/var` with the project's name at the time. */
  readonly functions?: ReadonlyArray<string>
}

export type RunRef = Pick<Run, "env_id" | "run_id">

export interface RunLog extends RunRef {
  readonly entries: ReadonlyArray<LogEntry>
}

/** A run that was cancelled, and the key of the group that its delivery was in. */
export interface CancelledRun {
  readonly run: Run
  readonly group: string | null
}

export class RunControlStore extends Context.Service<
  RunControlStore,
  {
    /**
     * Ends running runs as `cancelled` at `at`, at most `limit`; their deliveries are gone. Gives those that this call
     * has ended; what they have logged so far stays.
     */
    readonly cancel: (
      envId: EnvId,
      which: RunSelection,
      at: Timestamp,
      limit: number
    ) => Effect.Effect<ReadonlyArray<CancelledRun>, StoreUnavailable>

    /**
     * Stores the whole logs of runs, in place of what was stored of them, but not of those that have succeeded or
     * failed. Gives the status of each run, null where it is not stored.
     */
    readonly log: (logs: ReadonlyArray<RunLog>) => Effect.Effect<ReadonlyArray<RunStatus | null>, StoreUnavailable>

    /** Those of the runs that are stored as ended, whoever ended them. */
    readonly ended: (runs: ReadonlyArray<RunRef>) => Effect.Effect<ReadonlyArray<RunId>, StoreUnavailable>

    /** One more delivery of an event that is stored; it waits. */
    readonly redeliver: (delivery: Delivery) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/runs/RunControlStore") {}
