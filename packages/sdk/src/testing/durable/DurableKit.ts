/** Types of the test kit for durable functions. */
import type { Event } from "../../Event.ts"
import type { Duration, Meta } from "../../Meta.ts"
import type { RunFacts } from "../../Svc.ts"
import type { Failure } from "../failures.ts"
import type { Records } from "../Records.ts"
import type { TestOptions } from "../TestEnv.ts"
import type { Warning } from "./ActivationHost.ts"
import type { CrashOptions, CrashReport } from "./CrashCheck.ts"
import type { HistoryEntry, Waiting } from "./History.ts"

export interface DurableTestOptions extends TestOptions {
  /** Other fields of `svc.run`. The sequence of `svc.random` depends on its `run_id`. */
  readonly run?: Partial<RunFacts>
}

export interface DurableEventOptions<E extends Event> extends DurableTestOptions {
  /** The event that starts the run. */
  readonly event: {
    readonly data: E["event_data"]
    /** By default the only type that the function handles. */
    readonly type?: E["event_type"]
  } & Partial<Omit<Event, "event_type" | "event_data">>
}

export interface DurableCallOptions<Args extends ReadonlyArray<unknown>> extends DurableTestOptions {
  /** The arguments of the function, as `svc.call` passes them. `svc` follows them. */
  readonly args: Args | (Args extends readonly [...infer First, infer _Svc] ? First : never)
}

/** A function that handles events. `svc` is `never`, so that functions with any type of `svc` are accepted. */
export interface DurableEventFunction<E, Result> {
  (event: E, svc: never): Result | Promise<Result>
  readonly meta?: Meta
}

/** The state of a run. */
export interface DurableState<Result> {
  readonly status: "running" | "succeeded" | "failed" | "cancelled"
  /** Wait that ends first; null if it has ended or has not started. */
  readonly waiting: Waiting | null
  /** Result of the function, converted through JSON; null unless it returned. */
  readonly result: Result | null
  /** Error of the function; null unless it failed. */
  readonly error: Failure | null
  /** Arguments of `svc.continueAsNew`; undefined unless the function ended with it. */
  readonly continuedWith?: unknown
}

/** A durable run with virtual time. Bodies of steps take no virtual time. A failed run does not reject. */
export interface DurableKit<Result> extends DurableState<Result>, Records {
  /** Runs until the function waits. Time stands still. */
  readonly start: () => Promise<DurableState<Result>>
  /** Runs to the end, or until the function waits for an event or a token. Sleeps and pauses between attempts are skipped. */
  readonly run: () => Promise<DurableState<Result>>
  /** Lets time pass: the given time, or until the next wait ends, which may be by its timeout. */
  readonly advance: (duration?: Duration) => Promise<DurableState<Result>>
  readonly events: {
    /** Publishes an event, and gives it to the waits that it matches. */
    readonly publish: (event: { readonly type: string; readonly data: unknown }) => Promise<DurableState<Result>>
  }
  readonly tokens: {
    /** Completes the newest token of that name. */
    readonly complete: (name: string, data?: unknown) => Promise<DurableState<Result>>
  }
  readonly steps: {
    /** Replaces the body of all steps of that name, by a function of the step's context or by a result. */
    readonly mock: (name: string, double: unknown) => void
  }
  readonly functions: {
    /** Replaces a function for `svc.invoke`, by a function of its arguments or by a result. */
    readonly mock: (fn: `${string}/${string}`, double: unknown) => void
  }
  /** Lets the next attempts at steps of that name fail: one by default. */
  readonly fail: (name: string, options?: { readonly times?: number; readonly error?: unknown }) => void
  /**
   * Lets the process crash before it records the result at that position of the history. A step whose result is lost runs
   * again, with the same idempotency key.
   */
  readonly crashAt: (position: number) => void
  /**
   * Replays the function from each prefix of its history and compares its requests. Bodies of steps do not run. Rejects with
   * `NonDeterminism` if a replay differs. Runs the function first if it has not started.
   */
  readonly crashEverywhere: (options?: CrashOptions) => Promise<CrashReport>
  /** Returns the recorded results in the order in which the function received them. Times are virtual. */
  readonly history: () => ReadonlyArray<HistoryEntry>
  /**
   * Cancels the run. With `cleanup`, pending requests reject with `Cancelled`, and the function may clean up for that time:
   * 30 s by default.
   */
  readonly cancel: (options?: { readonly cleanup?: boolean | Duration }) => Promise<DurableState<Result>>
  /** Calls outside of steps that a replay repeats, or whose result may change. */
  readonly warnings: ReadonlyArray<Warning>
  /** The virtual time. */
  readonly now: Date
  /** Number of times that the function ran from its first line. */
  readonly activations: number
}
