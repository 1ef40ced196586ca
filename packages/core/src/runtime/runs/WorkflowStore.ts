/** Seam for the histories of durable runs. The journal writes them. Each method is one transaction. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, EventId, RunId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Event } from "../events/Event.ts"
import type { LogEntry, Run } from "./Run.ts"
import type { RunRef } from "./RunControlStore.ts"
import type { History, OpenWait, StepRecord, WaitRecord } from "./Workflow.ts"

/** Events of a type that runs of an environment wait for. */
export interface AwaitedEvents {
  readonly env_id: EnvId
  readonly event_type: string
  /** Time of the oldest wait. */
  readonly since: Timestamp
}

/** A durable run as an activation finds it. */
export interface LoadedRun {
  readonly history: History
  /** Log of the earlier activations. */
  readonly logs: ReadonlyArray<LogEntry>
  /** End of the requested cleanup; null without one. */
  readonly cleanup_until: Timestamp | null
}

/** A run whose cleanup was requested. */
export interface Cleanup {
  readonly run_id: RunId
  readonly until: Timestamp
}

/** A child run that a run waits for, by the event that starts it. */
export interface ChildRef {
  readonly env_id: EnvId
  readonly event_id: EventId
}

/** The run after `wake`. */
export interface Wakeup {
  readonly run: Run
  /** False if the run does not sleep. */
  readonly isWoken: boolean
}

/** Events of an awaited type among those that were examined. */
export interface ExaminedEvents {
  readonly events: ReadonlyArray<Event>
  /** Id after which the next call continues; null if all were examined. */
  readonly next: EventId | null
}

export class WorkflowStore extends Context.Service<
  WorkflowStore,
  {
    readonly load: (run: RunRef) => Effect.Effect<LoadedRun, StoreUnavailable>

    /**
     * Reads several runs of an environment at once. Those with large histories or logs are missing from the result, and so
     * are some of many: each of them needs `load`.
     */
    readonly loadSmall: (
      envId: EnvId,
      runs: ReadonlyArray<RunId>
    ) => Effect.Effect<ReadonlyMap<RunId, LoadedRun>, StoreUnavailable>

    /** Returns the cleanups that were requested of the runs. */
    readonly cleanups: (runs: ReadonlyArray<RunRef>) => Effect.Effect<ReadonlyArray<Cleanup>, StoreUnavailable>

    /**
     * Lists steps of a run, ascending by position. A page of large results may have fewer items than requested: see
     * `countOfPage`.
     */
    readonly steps: (run: RunRef, page: PageRequest) => Effect.Effect<Page<StepRecord>, StoreUnavailable>

    /** Lists waits of a run that have not ended, ascending by `seq`, at most `limit`. */
    readonly openWaits: (run: RunRef, limit: number) => Effect.Effect<ReadonlyArray<OpenWait>, StoreUnavailable>

    /**
     * Ends the sleep, or the pause before the next attempt at a step, that a suspended run waits for. The wait and `waiting`
     * end at `at`, and the run is due then. A run without such a wait stays as it is, and `isWoken` is false. A wait that
     * ended before `at` stays as it is, and `isWoken` is true.
     */
    readonly wake: (run: RunRef, at: Timestamp) => Effect.Effect<Wakeup, NotFound | StoreUnavailable>

    /** Lists the events that runs wait for, once per environment and type. */
    readonly awaited: Effect.Effect<ReadonlyArray<AwaitedEvents>, StoreUnavailable>

    /**
     * Gives events of one environment and type to all waits that they match, see `isAwaited`. Suspended runs are due at `at`.
     * Returns the runs, each once. A wait takes the first of the events; those of later calls change nothing. Many waits take
     * more than one transaction.
     */
    readonly arrive: (
      events: ReadonlyArray<Event>,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<RunRef>, StoreUnavailable>

    /** Lists the waits of a run that have received their event. */
    readonly arrived: (run: RunRef) => Effect.Effect<ReadonlyArray<WaitRecord>, StoreUnavailable>

    /**
     * Examines the next events of the environment in the order of their ids, those after the id `after`. Returns at most
     * `limit` events of the type that were created at or after `since`, and fewer if they are large: see `countOfPage`.
     * `next` is the last examined id, or null at the end.
     * Each call examines a limited number of events, because other types may have many more.
     */
    readonly eventsSince: (
      awaited: AwaitedEvents,
      after: EventId | null,
      limit: number
    ) => Effect.Effect<ExaminedEvents, StoreUnavailable>

    /** Lists child runs that runs wait for, after `after`, ascending by environment and event, at most `limit`. */
    readonly children: (
      after: ChildRef | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ChildRef>, StoreUnavailable>

    /**
     * Gives the ends of those of the children that have ended to the waits for them, see `formatChildEnd`. Suspended parents
     * are due at `at`. Returns the parents, each once. A child has ended if its event is stored, and no call of it is pending or running.
     */
    readonly endChildren: (
      children: ReadonlyArray<ChildRef>,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<RunRef>, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/WorkflowStore") {}
