/** Flow control in `meta`: which events a function handles, and when its runs start. */
import type { Duration } from "./Meta.ts"

/**
 * An expression on an event, in a subset of the Common Expression Language: `event.data.total > 100`.
 *
 * It reads `event.type`, `event.data`, `event.id` and `event.stream_id`. For a function that is called by name, `event.data` is
 * `{ fn, args }`.
 */
export type Expression = string

/** At most `limit` starts within any period. */
export interface Rate {
  /** 1 to 1,000. */
  readonly limit: number
  /** At most 7 days. */
  readonly period: Duration
  /** Each value has a limit of its own. */
  readonly key?: Expression
}

export interface Dedupe {
  readonly key: Expression
  /** At most 7 days. */
  readonly window: Duration
}

export interface Debounce {
  /** Time without a further event after which the last one is handled, at most 7 days. */
  readonly period: Duration
  /** Time after the first event at which the last one is handled although further ones come. */
  readonly max?: Duration
  /** Each value has a debounce of its own. */
  readonly key?: Expression
}

export interface Singleton {
  /** Each value has a run of its own. */
  readonly key?: Expression
  /**
   * `skip`: events are not handled meanwhile. `cancel`: an event cancels the run of the previous one, and is handled itself.
   * By default `skip`.
   */
  readonly mode?: "skip" | "cancel"
}

/** Events that one run handles together. */
export interface Batch {
  /** Number of events with which the run starts, 1 to 100. */
  readonly size: number
  /** Time after the first event at which the run starts with fewer, 1 second to 15 minutes. */
  readonly timeout: Duration
  /** Each value has batches of its own. */
  readonly key?: Expression
}

export interface CancelOn {
  /** Exact event types, at most 10. */
  readonly event: string | ReadonlyArray<string>
  /** An event cancels the runs of earlier events for which this has the same value. */
  readonly match: Expression
  /** Only events for which this is true cancel. */
  readonly if?: Expression
}

/** Conditions on the start of runs. */
export interface StartTerms {
  /** Time after the event until which the first run may start; a later one ends as `cancelled` with the error `Expired`. */
  readonly ttl?: Duration
  /** Runs beyond the rate start later. */
  readonly throttle?: Rate
}

/** Conditions on events and on the start of runs. Not for webhooks and tools, whose clients wait. */
export interface FlowTerms extends StartTerms {
  /** Only events for which this is true are handled. */
  readonly if?: Expression
  /** Of events with the same value, only the first one within the window is handled. */
  readonly dedupe?: Dedupe
  /** Events beyond the rate are not handled. */
  readonly rateLimit?: Rate
  /** Of events in quick succession, only the last one is handled. */
  readonly debounce?: Debounce
  /** Events are not handled while a run of the function is pending or active, or they cancel it. */
  readonly singleton?: Singleton
  /** Events that cancel pending and active runs of the function. */
  readonly cancelOn?: CancelOn
  /**
   * The first run of an event starts before those of events that came up to this many seconds earlier. 0 to 3,600, or an
   * expression for them.
   */
  readonly priority?: number | Expression
}
