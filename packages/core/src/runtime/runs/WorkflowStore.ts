/** Seam for the histories of durable runs. The journal writes them. Each method is one transaction. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, EventId, RunId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Event } from "../events/Event.ts"
import type { LogEntry } from "./Run.ts"
import type { RunRef } from "./RunControlStore.ts"
import type { History, StepRecord, WaitRecord } from "./Workflow.ts"

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

    /** Returns the cleanups that were requested of the runs. */
    readonly cleanups: (runs: ReadonlyArray<RunRef>) => Effect.Effect<ReadonlyArray<Cleanup>, StoreUnavailable>

    /** Lists steps of a run, ascending by position. */
    readonly steps: (run: RunRef, page: PageRequest) => Effect.Effect<Page<StepRecord>, StoreUnavailable>

    /** Lists the events that runs wait for, once per environment and type. */
    readonly awaited: Effect.Effect<ReadonlyArray<AwaitedEvents>, StoreUnavailable>

    /**
     * Gives the event to all waits that it matches, see `isAwaited`. Suspended runs are due at `at`. Returns the runs. A wait
     * takes the first event that this method gives to it; later ones change nothing.
     */
    readonly arrive: (event: Event, at: Timestamp) => Effect.Effect<ReadonlyArray<RunRef>, StoreUnavailable>

    /** Lists the waits of a run that have received their event. */
    readonly arrived: (run: RunRef) => Effect.Effect<ReadonlyArray<WaitRecord>, StoreUnavailable>

    /**
     * Examines the next events of the environment in the order of their ids, those after the id `after`. Returns at most
     * `limit` events of the type that were created at or after `since`. `next` is the last examined id, or null at the end.
     * Each call examines a limited number of events, because other types may have many more.
     */
    readonly eventsSince: (
      awaited: AwaitedEvents,
      after: EventId | null,
      limit: number
    ) => Effect.Effect<ExaminedEvents, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/WorkflowStore") {}
