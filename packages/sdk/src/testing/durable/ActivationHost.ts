/** Types of an activation: its requests, its end, and the run that it belongs to. */
import type { RunBook } from "../Records.ts"
import type { CallSite } from "./callSite.ts"
import type { RecordedResult, RequestName, Wait } from "./History.ts"
import type { Zone } from "./Zone.ts"

export interface NumberedRequest extends RequestName {
  readonly seq: number
}

/** A request as the function made it. */
export interface MadeRequest extends NumberedRequest {
  /** Arguments that decide how a wait ends, as JSON text. */
  readonly details: string
  readonly at: CallSite
}

/** A call that behaves differently in a replay. */
export interface Warning {
  /** For example `svc.events.publish`. */
  readonly call: string
  readonly problem: string
  /** File and line of the call; null if unknown. */
  readonly at: string | null
}

/** The end of a run. `text` is the JSON text of the result. */
export type Ending =
  | { readonly status: "succeeded"; readonly text: string }
  | { readonly status: "continued"; readonly args: unknown }
  | { readonly status: "failed"; readonly error: Error }

/** The run of an activation. */
export interface ActivationHost {
  readonly fn: string
  readonly runId: string
  readonly startedAt: number
  readonly now: () => number
  /** Waits that have not ended, by `seq`. */
  readonly waits: Map<number, Wait>
  /** Records a result; false if the process crashes before. */
  readonly record: (result: Omit<RecordedResult, "position">) => boolean
  readonly recordedCount: () => number
  /** Returns the body that replaces the body of a step. */
  readonly bodyOf: (name: string, body: (context: StepFacts) => unknown) => (context: StepFacts) => unknown
  readonly warn: (warning: Warning) => void
  /** True if the function refuses effects outside of steps. */
  readonly isStrict: boolean
  /** Returns the calls outside of steps, with what to do, in parentheses for the end of an error; empty without any. */
  readonly describeCalls: () => string
}

export interface StepFacts {
  readonly attempt: number
  readonly idempotencyKey: string
  readonly signal: AbortSignal
}

export interface ActivationOptions {
  readonly host: ActivationHost
  readonly recorder: RunBook
  readonly recorded: ReadonlyArray<RecordedResult>
  /** True to leave new requests without answers. */
  readonly isDry: boolean
  readonly zone: Pick<Zone, "now" | "random">
}
