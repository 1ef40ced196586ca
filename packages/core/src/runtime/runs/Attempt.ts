/**
 * The lifecycle of an attempt: from a delivery to a run, its end, and the next attempt.
 *
 * Pure: `now`, ids and random draws are arguments, so that the lifecycle is testable without a store.
 */
import type { DeliveryId, NodeId, RunId, StreamId } from "../../foundation/Ids.ts"
import { JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { addMillis, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Execution, Outcome } from "../../platform/sandbox/Outcome.ts"
import type { FunctionRef } from "../../platform/sandbox/Sandbox.ts"
import type { Build } from "../../resources/builds/Build.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import { type RetryPolicy, retryDelayMs } from "../../resources/builds/RetryPolicy.ts"
import type { Cause } from "../events/Cause.ts"
import type { Event } from "../events/Event.ts"
import type { Delivery } from "./Delivery.ts"
import type { Run, RunStatus } from "./Run.ts"

/** The fields of a match that its deliveries have. */
export interface DeliveryMatch extends Pick<Match, "run_type"> {
  readonly build: Pick<Build, "project_id" | "project_name" | "build_id">
  readonly handler: Pick<
    Match["handler"],
    "ns" | "var" | "retry" | "timeout_ms" | "durable" | "on_failure" | "recording"
  >
}

/** Returns a delivery that runs `match` for `event`, due at the event's time. */
export const newDelivery = (
  event: Event,
  match: DeliveryMatch,
  id: DeliveryId,
  cause: Cause,
  group: Delivery["group"],
  traceparent?: string
): Delivery => ({
  delivery_id: id,
  env_id: event.env_id,
  event_id: event.event_id,
  stream_id: event.stream_id,
  project_id: match.build.project_id,
  project_name: match.build.project_name,
  build_id: match.build.build_id,
  ns: match.handler.ns,
  var: match.handler.var,
  run_type: match.run_type,
  retry: match.handler.retry,
  timeout_ms: match.handler.timeout_ms,
  group,
  attempt: 1,
  due_at: event.event_time > event.created_at ? event.event_time : event.created_at,
  caused_by: cause.run_id,
  depth: cause.depth,
  first_run_id: null,
  durable: match.handler.durable,
  continues: null,
  ...(cause.awaits === true ? { awaited: true } : {}),
  ...(match.handler.on_failure === undefined ? {} : { on_failure: match.handler.on_failure }),
  ...(match.handler.recording === undefined ? {} : { recording: match.handler.recording }),
  ...(traceparent === undefined ? {} : { traceparent })
})

/** Returns the run of the delivery's current attempt. */
export const startRun = (delivery: Delivery, runId: RunId, nodeId: NodeId, now: Timestamp): Run => ({
  run_id: runId,
  env_id: delivery.env_id,
  stream_id: delivery.stream_id,
  project_id: delivery.project_id,
  project_name: delivery.project_name,
  build_id: delivery.build_id,
  ns: delivery.ns,
  var: delivery.var,
  run_type: delivery.run_type,
  status: "running",
  start_time: now,
  stop_time: null,
  origin_run_id: delivery.first_run_id ?? delivery.caused_by,
  event_id: delivery.event_id,
  event_ids: delivery.batch === undefined ? null : toJsonText(delivery.batch.events),
  attempt: delivery.attempt,
  result: null,
  node_id: nodeId,
  cpu_ms: null,
  wall_ms: null,
  heap_bytes: null,
  activations: delivery.durable ? 1 : null,
  waiting: null,
  steps: delivery.durable ? 0 : null
})

/** The fields of a build that its runs have. */
export type RunBuild = Pick<Build, "env_id" | "project_id" | "project_name" | "build_id">

/** Returns the run of a webhook, a tool or source text: without a delivery, and the first of its stream. */
export const startCall = (
  {
    build,
    fn,
    source
  }: {
    readonly build: RunBuild
    readonly fn: FunctionRef
    readonly source?: { readonly run_type: Run["run_type"] }
  },
  node_id: NodeId,
  run_id: RunId,
  stream_id: StreamId,
  start_time: Timestamp
): Run => ({
  run_id,
  env_id: build.env_id,
  stream_id,
  project_id: build.project_id,
  project_name: build.project_name,
  build_id: build.build_id,
  ns: fn.ns,
  var: fn.var,
  run_type: source?.run_type ?? "call",
  status: "running",
  start_time,
  stop_time: null,
  origin_run_id: null,
  event_id: null,
  event_ids: null,
  attempt: 1,
  result: null,
  node_id,
  cpu_ms: null,
  wall_ms: null,
  heap_bytes: null,
  activations: null,
  waiting: null,
  steps: null
})

/** Returns a suspended run when a node continues it. */
export const continueRun = (run: Run, nodeId: NodeId): Run => ({
  ...run,
  node_id: nodeId,
  activations: (run.activations ?? 0) + 1,
  waiting: null
})

/** Returns the run after its execution. */
export const endRun = (run: Run, execution: Execution, now: Timestamp): Run => ({
  ...run,
  ...execution.usage,
  status: toStatus(execution.outcome),
  stop_time: now,
  result: toResult(execution.outcome)
})

/** Message of a run whose function handles only the latest event (`singleton`). */
export const replacedMessage = "A newer event with the same key cancelled the run"

/** Returns the message of a run that an event cancelled (`cancelOn`). */
export const cancelledByMessage = ({ event_id, event_type }: Event): string =>
  `The event ${event_id} of the type ${event_type} cancelled the run`

/** Returns the run after its cancellation. */
export const cancelRun = (run: Run, now: Timestamp, message?: string): Run => ({
  ...run,
  status: "cancelled",
  waiting: null,
  stop_time: now,
  result: toResult({ _tag: "Cancelled", ...(message === undefined ? {} : { message }) })
})

/** Returns the run after a failure of this node, independent of the guest. */
export const loseRun = (run: Run, name: string, message: string, now: Timestamp): Run => ({
  ...run,
  status: "failed",
  stop_time: now,
  result: buildErrorResult(name, message, "")
})

/**
 * Returns the due time of the attempt after `attempt`, or null without a further attempt. Failures of a quarantined or
 * deleted build are not retried: a delivery keeps its build, so a retry could only fail again. An error may forbid the
 * next attempt, or set its delay.
 *
 * @param draw uniform random number in [0, 1)
 */
export const nextDue = (
  policy: RetryPolicy,
  attempt: number,
  outcome: Outcome,
  now: Timestamp,
  draw: number
): Timestamp | null => {
  if (!isFailure(outcome) || nonRetryable.has(outcome._tag) || attempt >= policy.attempts) return null
  const hint = outcome._tag === "Threw" ? outcome.retry : undefined
  return hint?.final === true ? null : addMillis(now, hint?.after_ms ?? retryDelayMs(policy, attempt, draw))
}

/** True if no attempt follows this run, as far as its record shows. */
export const isFinalAttempt = ({ status, attempt, result, cpu_ms }: Run, attempts: number): boolean => {
  if (status === "running") return false
  if (status !== "failed") return true
  const name = /^\{"error":\{"name":"(\w+)"/.exec(result ?? "")?.[1] ?? ""
  // A run that was lost with its node does not count as an attempt. It has no usage; a function may also throw `NodeLost`.
  if (name === "NodeLost" && cpu_ms === null) return false
  return attempt >= attempts || (result ?? "").endsWith(finalMark) || [...nonRetryable].some((tag) => tag === name)
}

/** End of the result of a run whose error allows no further attempt. A stack ends with a quotation mark. */
const finalMark = ',"nonRetryable":true}}'

/** True if the run failed, or expired before its function was called. Other cancelled runs did not fail. */
export const hasFailed = ({ status, result }: Pick<Run, "status" | "result">): boolean =>
  status === "failed" || (status === "cancelled" && result?.startsWith('{"error":{"name":"Expired"') === true)

/**
 * True if the delivery of an ended run becomes a dead letter, given its next attempt. A run that waits for the delivery gets
 * the failure itself.
 */
export const isDeadLetter = ({ awaited }: Pick<Delivery, "awaited">, run: Run, next: object | null): boolean =>
  next === null && awaited !== true && hasFailed(run)

/** True if the retry policy applies to the outcome. */
export const isFailure = (outcome: Outcome): boolean => toStatus(outcome) === "failed"

const nonRetryable: ReadonlySet<Outcome["_tag"]> = new Set(["Quarantined", "BuildGone"])

/** Returns the final status of a run with this outcome. */
export const toStatus = (outcome: Outcome): Exclude<RunStatus, "running"> => {
  switch (outcome._tag) {
    case "Returned":
    case "Responded":
      return "succeeded"
    case "Cancelled":
    case "Expired":
      return "cancelled"
    default:
      return "failed"
  }
}

/** Returns the `result` of a run (decisions 5.4). */
export const toResult = (outcome: Outcome): JsonText => {
  switch (outcome._tag) {
    case "Returned":
      return JsonText.make(outcome.output, { disableChecks: true })
    case "Responded":
      return buildResponseResult(outcome)
    case "Threw":
      return buildErrorResult(outcome.name, outcome.message, outcome.stack, outcome.retry?.final)
    default:
      return buildErrorResult(outcome._tag, describeFailure(outcome), "")
  }
}

/** Returns name and message of a failure, as in the result of its run. */
export const toFailure = (outcome: Exclude<Outcome, { _tag: "Returned" | "Responded" }>) =>
  outcome._tag === "Threw"
    ? { name: outcome.name, message: outcome.message }
    : { name: outcome._tag, message: describeFailure(outcome) }

const describeFailure = (outcome: Exclude<Outcome, { _tag: "Returned" | "Responded" | "Threw" }>): string => {
  switch (outcome._tag) {
    case "TimedOut":
      return `The run took longer than its timeout of ${outcome.limitMs} ms`
    case "CpuExhausted":
      return `The code computed for ${outcome.limitMs} ms without a pause`
    case "OutOfMemory":
      return `The code used more than ${outcome.limitBytes} bytes of memory`
    case "LimitExceeded":
    case "RunnerLost":
    case "Quarantined":
      return outcome.message
    case "BuildGone":
      return "The build was removed before the run began"
    case "Expired":
      return `The run did not start within its ttl of ${outcome.ttlMs} ms`
    case "Cancelled":
      return outcome.message ?? "The run was cancelled"
  }
}

/** Returns `{status, headers, body}` without parsing a JSON body again. Empty headers and bodies are left out. */
const buildResponseResult = (outcome: Extract<Outcome, { _tag: "Responded" }>): JsonText => {
  const headers = Object.keys(outcome.headers).length === 0 ? "" : `,"headers":${JSON.stringify(outcome.headers)}`
  const body = outcome.encoding === "json" ? outcome.body : JSON.stringify(outcome.body)
  const bodyField = outcome.body === "" ? "" : `,"body":${body}`
  return JsonText.make(`{"status":${outcome.status}${headers}${bodyField}}`, { disableChecks: true })
}

const buildErrorResult = (name: string, message: string, stack: string, isFinal = false): JsonText =>
  toJsonText({ error: { name, message, stack, ...(isFinal ? { nonRetryable: true } : {}) } })
