/**
 * Outcome of one attempt in the sandbox.
 *
 * A failure of guest code is an ordinary value, not an error. Errors are reserved for a sandbox that cannot run code.
 */
import { Schema } from "effect"

const Millis = Schema.Int

/** Instructions of a thrown error about further attempts. */
export const RetryHint = Schema.Struct({
  /** True if no further attempt may follow. */
  final: Schema.Boolean,
  /** Delay before the next attempt, in milliseconds; null for that of the policy. */
  after_ms: Schema.NullOr(Schema.Finite)
})
export type RetryHint = typeof RetryHint.Type

export const Outcome = Schema.TaggedUnion({
  /** The function returned. `output` is JSON text, checked to be within the result limit. */
  Returned: { output: Schema.String },
  /**
   * A webhook function returned a response object (decisions section 9). Headers have lowercase names and are valid;
   * only `set-cookie` may have several values. `body` is JSON text, plain text or base64, as in `encoding`; empty text
   * without a body.
   */
  Responded: {
    status: Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 })),
    headers: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Array(Schema.String)])),
    encoding: Schema.Literals(["json", "text", "base64"]),
    body: Schema.String
  },
  /** The function threw, its promise rejected, or its return value cannot be a result. */
  Threw: {
    name: Schema.String,
    message: Schema.String,
    stack: Schema.String,
    retry: Schema.optionalKey(RetryHint)
  },
  /** The run exceeded its wall time. */
  TimedOut: { limitMs: Millis },
  /** The function computed without a pause for longer than the CPU slice. */
  CpuExhausted: { limitMs: Millis },
  OutOfMemory: { limitBytes: Schema.Int },
  /** The run exceeded a limit of the sandbox; `limit` is its name in `Limits`. */
  LimitExceeded: { limit: Schema.String, message: Schema.String },
  /** The runner process died during the run. The run had begun host calls, so it is not repeated automatically. */
  RunnerLost: { message: Schema.String },
  /** The build has ended runners before. It is in quarantine until its strikes expire, or until it is released or deployed. */
  Quarantined: { message: Schema.String },
  /** The build was removed, with its project, before the run began. */
  BuildGone: {},
  /** No node started the run within the `ttl` of its function. */
  Expired: { ttlMs: Millis },
  /** Cancelled from outside. `message` describes a cleanup that failed. */
  Cancelled: { message: Schema.optionalKey(Schema.String) }
})
export type Outcome = typeof Outcome.Type

/** Resources that an attempt used. */
export const Usage = Schema.Struct({
  /** CPU time inside the isolate, in milliseconds with fractions. */
  cpu_ms: Schema.Number,
  /** Time from the call to its end, in milliseconds with fractions. */
  wall_ms: Schema.Number,
  /** Largest observed heap of the isolate during the run, in bytes. */
  heap_bytes: Schema.Int
})
export type Usage = typeof Usage.Type

export interface Execution {
  readonly outcome: Outcome
  readonly usage: Usage
}
