/** The event about a run that failed for good. Types only. */
import type { Event } from "./Event.ts"
import type { RunType } from "./Svc.ts"

/** A run whose last attempt failed, or that expired before its start. */
export interface RunFailure<Data = unknown> {
  /** The last run. */
  readonly run_id: string
  readonly project_id: string
  readonly project_name: string
  readonly build_id: string
  readonly ns: string
  readonly var: string
  readonly run_type: RunType
  /** `cancelled` if the run expired. */
  readonly status: "failed" | "cancelled"
  /** Number of the last attempt. */
  readonly attempt: number
  /** ISO 8601, UTC. */
  readonly start_time: string
  readonly stop_time: string
  readonly error: { readonly name: string; readonly message: string; readonly stack: string }
  /** The event that the run handled; of a batch the first one. */
  readonly event: FailedEvent<Data>
  /** All events of a batch in their order; absent for a single event. */
  readonly events?: ReadonlyArray<FailedEvent<Data>>
}

/** An event of a failed run. It has its data if the function has `onFailure`. */
export interface FailedEvent<Data = unknown> {
  readonly event_id: string
  readonly event_type: string
  readonly stream_id: string
  readonly event_data?: Data
}

/** The event that functions of `onFailure` and handlers of `svc:run:failed` receive. */
export type FailureEvent<Data = unknown> = Event<"svc:run:failed", RunFailure<Data>>
