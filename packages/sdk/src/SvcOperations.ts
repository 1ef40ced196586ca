/** Methods of `svc` that make host calls. Types only. Generated from the table of operations: `npm run generate -w packages/core`. */
import type { AnyEvents, Catalogue } from "./Event.ts"
import type { AnyFunction, ArgsOf, NewEvent } from "./Svc.ts"

/** Result of `svc.events.publish`. */
export interface Published {
  readonly event_id: string
  readonly stream_id: string
  readonly event_type: string
}

/** Argument of `svc.schedules.create`. */
export interface NewSchedule {
  /** `ns/var`, or `project:ns/var`. */
  readonly fn: string
  readonly args?: ReadonlyArray<unknown>
  /** A cron expression, or for one run an ISO 8601 timestamp or a duration. */
  readonly schedule: string
  /** Time zone of a cron expression; UTC by default. */
  readonly timezone?: string
}

/** Methods of `svc` that make host calls. `Events` are the events that the project publishes. */
export interface SvcOperations<Events extends Catalogue = AnyEvents> {
  readonly context: {
    /** Returns a secret of the project, or null. */
    get(key: string): Promise<string | null>
    /** Returns all secrets of the project, by key. */
    all(): Promise<Readonly<Record<string, string>>>
  }
  readonly events: {
    /** Publishes an event, which is stored when the promise resolves. */
    publish(event: NewEvent<Events>): Promise<Published>
  }
  /**
   * Runs a function in the background. The call is stored when the promise resolves. The type of the function checks its
   * arguments: `svc.call<typeof charge>("billing/charge", [order])`.
   */
  call<F extends AnyFunction = AnyFunction>(
    fn: string,
    args?: ArgsOf<F>
  ): Promise<{ readonly event_id: string; readonly stream_id: string }>
  readonly schedules: {
    /** Creates a schedule of a function. */
    create(schedule: NewSchedule): Promise<{ readonly schedule_id: string }>
    /** Cancels one schedule, or all that were created for a function. */
    cancel(schedule: { readonly id: string } | { readonly fn: string }): Promise<void>
  }
  readonly stream: {
    /** Sends a message of at most 64 KiB JSON to the current subscribers of the run's stream. It is not stored. */
    emit(data_type: string, payload?: unknown): Promise<void>
  }
}
