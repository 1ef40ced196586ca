/**
 * What one attempt in the sandbox came to.
 *
 * Guest code failing is an ordinary value, never an error of ours: errors are kept for the sandbox
 * itself being unable to run anything.
 */
import { Schema } from "effect"

const Millis = Schema.Int

export const Outcome = Schema.TaggedUnion({
  /** The function returned. `output` is JSON text, checked to be within the result limit. */
  Returned: { output: Schema.String },
  /**
   * A webhook function returned a response object (decisions section 9). Headers have lowercase names and are
   * fit to send; `set-cookie` alone may have several values. `body` is JSON text, plain text or base64, as `encoding`
   * says; empty text where there is none.
   */
  Responded: {
    status: Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 })),
    headers: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Array(Schema.String)])),
    encoding: Schema.Literals(["json", "text", "base64"]),
    body: Schema.String
  },
  /** The function threw, its promise rejected, or what it returned cannot be a result. */
  Threw: { name: Schema.String, message: Schema.String, stack: Schema.String },
  /** The wall time of the run was over. */
  TimedOut: { limitMs: Millis },
  /** One stretch of computing without a pause took longer than the CPU slice. */
  CpuExhausted: { limitMs: Millis },
  OutOfMemory: { limitBytes: Schema.Int },
  /** A cap of the sandbox was passed; `limit` names it, as in `Limits`. */
  LimitExceeded: { limit: Schema.String, message: Schema.String },
  /** The runner process died under the run, which had already begun host calls and so cannot be repeated unasked. */
  RunnerLost: { message: Schema.String },
  /** The build killed runners before and is not run until it is deployed anew. */
  Quarantined: { message: Schema.String },
  /** The build was removed, with its project, before the run began. */
  BuildGone: {},
  /** Cancelled from outside. */
  Cancelled: {}
})
export type Outcome = typeof Outcome.Type

/** What an attempt used. */
export const Usage = Schema.Struct({
  /** Processor time inside the isolate, in milliseconds with fractions. */
  cpu_ms: Schema.Number,
  /** Time from the call to its end, in milliseconds with fractions. */
  wall_ms: Schema.Number,
  /** The largest heap of the isolate that was seen during the run, in bytes. */
  heap_bytes: Schema.Int
})
export type Usage = typeof Usage.Type

export interface Execution {
  readonly outcome: Outcome
  readonly usage: Usage
}
