/** Replays a recorded run in a sandbox: offline, with the recorded input and the recorded answers to host calls. */
import { Deferred, Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import type { Execution } from "../../platform/sandbox/Outcome.ts"
import { type BundleRef, type GuestLog, Sandbox, type SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import { toResult, toStatus } from "../runs/Attempt.ts"
import { findDifference, type JsonDifference } from "../runs/JsonDifference.ts"
import type { RecordedRun } from "../runs/Recording.ts"
import { makeRedaction } from "../runs/Redaction.ts"
import type { RunStatus } from "../runs/Run.ts"
import { type CallDifference, ReplayedCalls } from "./ReplayedCalls.ts"

/** A result that differs. Stacks are not compared. */
export interface ResultDifference {
  readonly kind: "result"
  readonly recorded: { readonly status: RunStatus; readonly result: JsonText }
  readonly replayed: { readonly status: RunStatus; readonly result: JsonText }
  /** Its path is `status`, that of the run, or begins with `result`. */
  readonly at: JsonDifference
}

export interface ReplayReport {
  /**
   * - `same`: same host calls and same result
   * - `different`: see `difference`
   * - `incomplete`: equal to the end of a truncated recording, which says nothing about the rest
   */
  readonly verdict: "same" | "different" | "incomplete"
  /** The first difference. */
  readonly difference: CallDifference | ResultDifference | null
  /** Number of host calls of the replay. */
  readonly calls: number
  readonly logs: ReadonlyArray<GuestLog>
}

/** Time in milliseconds for which a replay may take longer than the recorded run. */
const extraMs = 10_000

/** Replays the recording with the bundle. It makes no request, and reads and writes no store. */
export const replayRecording = Effect.fnUntraced(function* (
  recording: RecordedRun,
  bundle: BundleRef
): Effect.fn.Return<ReplayReport, SandboxUnavailable | NotFound | StoreUnavailable, Sandbox> {
  const sandbox = yield* Sandbox
  const { trigger, svc, body, timeout_ms, replay } = recording.input
  const calls = new ReplayedCalls(recording)
  const logs: Array<GuestLog> = []
  const invoked = sandbox.invoke({
    run_id: recording.run_id,
    bundle,
    fn: { ns: recording.ns, var: recording.var },
    svc,
    ...(body === null ? {} : { body }),
    ...(replay === undefined ? {} : { replay }),
    trigger,
    timeoutMs: timeout_ms,
    queueTimeoutMs: extraMs,
    onHostCall: (call) => calls.answer(call),
    onLog: (line) => void logs.push(line)
  })
  const execution = yield* Effect.raceFirst(invoked, Effect.as(Deferred.await(calls.stop), null))
  return { ...judge(recording, calls, execution), calls: calls.made, logs }
})

/** @param execution null if the replay was stopped before its end */
const judge = (
  recording: RecordedRun,
  calls: ReplayedCalls,
  execution: Execution | null
): Pick<ReplayReport, "verdict" | "difference"> => {
  const made = calls.findDifference(false)
  if (made !== null) return { verdict: "different", difference: made }
  if (calls.isIncomplete) return { verdict: "incomplete", difference: null }
  const result = execution === null ? null : compareResults(recording, execution)
  const missing = calls.findDifference(execution !== null || calls.hasStalled)
  // An error explains why the replay made no further call.
  const difference = result?.at.path === "status" ? result : (missing ?? result)
  return { verdict: difference === null ? "same" : "different", difference }
}

const compareResults = (recording: RecordedRun, { outcome }: Execution): ResultDifference | null => {
  const redaction = makeRedaction({ redact: recording.redact, secrets: new Map(), context: [] })
  const text = toResult(outcome)
  const recorded = { status: recording.status, result: asJson(recording.result) }
  const replayed = { status: toStatus(outcome), result: asJson(redaction.json(text) ?? text) }
  const at =
    recorded.status === replayed.status
      ? findDifference(withoutStack(recorded.result), withoutStack(replayed.result), "result")
      : { path: "status", recorded: recorded.status, replayed: replayed.status }
  return at === null ? null : { kind: "result", recorded, replayed, at }
}

const asJson = (text: string): JsonText => JsonText.make(text, { disableChecks: true })

/** Parses a result. The stack of an error depends on the lines of the code. */
const withoutStack = (result: JsonText): unknown => {
  const value: unknown = JSON.parse(result)
  if (!isError(value)) return value
  const { stack: _, ...error } = value.error
  return { error }
}

const isError = (value: unknown): value is { readonly error: { readonly stack: unknown } } =>
  typeof value === "object" &&
  value !== null &&
  "error" in value &&
  typeof value.error === "object" &&
  value.error !== null &&
  "stack" in value.error
