/**
 * The rules of an attempt: how a delivery becomes a run, and what comes after it.
 *
 * Pure: `now`, ids and random draws come in, so the whole lifecycle is testable without a store.
 */
import type { Match } from "../builds/Deployments.ts"
import { type RetryPolicy, retryDelayMs } from "../builds/Retry.ts"
import type { Event } from "../events/Event.ts"
import type { DeliveryId, NodeId, RunId } from "../ids/Ids.ts"
import { JsonText, toJsonText } from "../ids/JsonText.ts"
import { addMillis, type Timestamp } from "../ids/Timestamp.ts"
import type { Execution, Outcome } from "../sandbox/Outcome.ts"
import type { Delivery } from "./Delivery.ts"
import type { Run, RunStatus } from "./Run.ts"

/** The intent to run `match` for `event`, as soon as the event has happened. */
export const newDelivery = (
  event: Event,
  match: Match,
  id: DeliveryId,
  causedBy: RunId | null,
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
  caused_by: causedBy,
  first_run_id: null,
  ...(traceparent === undefined ? {} : { traceparent })
})

/** The run of the delivery's current attempt. */
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
  attempt: delivery.attempt,
  result: null,
  node_id: nodeId,
  cpu_ms: null,
  wall_ms: null,
  heap_bytes: null
})

/** The run as it stands after `execution`. */
export const endRun = (run: Run, execution: Execution, now: Timestamp): Run => ({
  ...run,
  ...execution.usage,
  status: statusOf(execution.outcome),
  stop_time: now,
  result: resultOf(execution.outcome)
})

/** The run as it stands when somebody has cancelled it. */
export const cancelRun = (run: Run, now: Timestamp): Run => ({
  ...run,
  status: "cancelled",
  stop_time: now,
  result: resultOf({ _tag: "Cancelled" })
})

/** The run as it stands when this process could not finish it, whatever the guest did. */
export const loseRun = (run: Run, name: string, message: string, now: Timestamp): Run => ({
  ...run,
  status: "failed",
  stop_time: now,
  result: errorResult(name, message, "")
})

/**
 * When the attempt after `attempt` is due, or null when there is none. A build in quarantine stays there until
 * it is deployed anew, a removed one is gone, and a delivery keeps its build: trying again could only fail again.
 *
 * `draw` is a uniform number in [0, 1).
 */
export const nextDue = (
  policy: RetryPolicy,
  attempt: number,
  outcome: Outcome,
  now: Timestamp,
  draw: number
): Timestamp | null =>
  isFailure(outcome) && !hopeless.has(outcome._tag) && attempt < policy.attempts
    ? addMillis(now, retryDelayMs(policy, attempt, draw))
    : null

/** Whether no attempt follows this ended run of a delivery, as its record tells. */
export const isLast = ({ status, attempt, result, cpu_ms }: Run, attempts: number): boolean => {
  if (status === "running") return false
  if (status !== "failed") return true
  const name = /^\{"error":\{"name":"(\w+)"/.exec(result ?? "")?.[1] ?? ""
  // What was lost with its node does not count as an attempt, and has no usage: a function may throw anything.
  if (name === "NodeLost" && cpu_ms === null) return false
  return attempt >= attempts || [...hopeless].some((tag) => tag === name)
}

/** Whether another attempt may follow, if the policy has it. */
export const isFailure = (outcome: Outcome): boolean => statusOf(outcome) === "failed"

const hopeless: ReadonlySet<Outcome["_tag"]> = new Set(["Quarantined", "BuildGone"])

const statusOf = (outcome: Outcome): Exclude<RunStatus, "running"> => {
  switch (outcome._tag) {
    case "Returned":
    case "Responded":
      return "succeeded"
    case "Cancelled":
      return "cancelled"
    default:
      return "failed"
  }
}

/** What `result` of the run says (decisions 5.4). */
const resultOf = (outcome: Outcome): JsonText => {
  switch (outcome._tag) {
    case "Returned":
      return JsonText.make(outcome.output, { disableChecks: true })
    case "Responded":
      return respondedResult(outcome)
    case "Threw":
      return errorResult(outcome.name, outcome.message, outcome.stack)
    case "TimedOut":
      return errorResult("TimedOut", `The run took longer than its timeout of ${outcome.limitMs} ms`, "")
    case "CpuExhausted":
      return errorResult("CpuExhausted", `The code computed for ${outcome.limitMs} ms without a pause`, "")
    case "OutOfMemory":
      return errorResult("OutOfMemory", `The code used more than ${outcome.limitBytes} bytes of memory`, "")
    case "LimitExceeded":
    case "RunnerLost":
    case "Quarantined":
      return errorResult(outcome._tag, outcome.message, "")
    case "BuildGone":
      return errorResult("BuildGone", "The build was removed before the run began", "")
    case "Cancelled":
      return errorResult("Cancelled", "The run was cancelled", "")
  }
}

/** `{status, headers, body}` without parsing a JSON body again; headers and body as far as there are any. */
const respondedResult = (outcome: Extract<Outcome, { _tag: "Responded" }>): JsonText => {
  const headers = Object.keys(outcome.headers).length === 0 ? "" : `,"headers":${JSON.stringify(outcome.headers)}`
  const body = outcome.encoding === "json" ? outcome.body : JSON.stringify(outcome.body)
  const ofBody = outcome.body === "" ? "" : `,"body":${body}`
  return JsonText.make(`{"status":${outcome.status}${headers}${ofBody}}`, { disableChecks: true })
}

const errorResult = (name: string, message: string, stack: string): JsonText =>
  toJsonText({ error: { name, message, stack } })
