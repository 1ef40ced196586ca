/**
 * Alert rules and their states. Pure.
 *
 *     ok --breached--> pending --held for `for_minutes`--> firing --no longer breached--> ok
 *
 * A change to and from `firing` is a transition. Its notice is stored with the new state, and removed when it is delivered.
 */
import { Schema } from "effect"
import { AlertId, EnvId, ProjectId } from "../../foundation/Ids.ts"
import { addMillis, iso, Timestamp } from "../../foundation/time/Timestamp.ts"

const minute = 60_000

/** Maximum window of counts in minutes. */
const windowMax = 60

const integer = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const window_minutes = integer(1, windowMax)

export const AlertCondition = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("failure_share"),
    /** Failed runs divided by succeeded and failed ones; the condition is true above it. */
    share: Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    /** With fewer ended runs in the window, the condition is false. */
    min_runs: integer(1, 1_000_000),
    window_minutes
  }),
  Schema.Struct({
    type: Schema.Literal("latency"),
    of: Schema.Literals(["duration", "wait"]),
    percentile: Schema.Literals([50, 95, 99]),
    over_ms: integer(1, 90 * 24 * 60 * minute),
    min_runs: integer(1, 1_000_000),
    window_minutes
  }),
  Schema.Struct({
    type: Schema.Literal("backlog"),
    /** True with more due deliveries than this. */
    deliveries: Schema.optionalKey(integer(0, 1_000_000)),
    /** True if a due delivery has waited longer. */
    oldest_seconds: Schema.optionalKey(integer(1, 30 * 24 * 3600))
  }),
  /** No run has succeeded for this time. */
  Schema.Struct({ type: Schema.Literal("silence"), minutes: integer(2, 7 * 24 * 60) })
])
export type AlertCondition = typeof AlertCondition.Type

export const AlertAction = Schema.Union([
  Schema.Struct({ type: Schema.Literal("webhook"), url: Schema.String.check(Schema.isMaxLength(2048)) }),
  Schema.Struct({ type: Schema.Literals(["event", "hook"]) })
])
export type AlertAction = typeof AlertAction.Type

export const AlertState = Schema.Literals(["ok", "pending", "firing"])
export type AlertState = typeof AlertState.Type

/** A transition whose actions are not all done. */
export const AlertNotice = Schema.Struct({
  /** The same in each attempt, so that receivers can detect repetitions. */
  notice_id: Schema.String,
  type: Schema.Literals(["alert.fired", "alert.resolved", "alert.test"]),
  at: Timestamp,
  value: Schema.NullOr(Schema.Number),
  /** The remaining actions. */
  actions: Schema.Array(AlertAction),
  /** Number of attempts so far. */
  attempts: Schema.Int,
  /** Earliest time of the next attempt. */
  due_at: Timestamp
})
export type AlertNotice = typeof AlertNotice.Type

export const Alert = Schema.Struct({
  alert_id: AlertId,
  env_id: EnvId,
  name: Schema.String,
  /** Null for a rule about the whole environment. */
  project_id: Schema.NullOr(ProjectId),
  project_name: Schema.NullOr(Schema.String),
  /** Namespace of the function; null for a rule about a project or the environment. */
  ns: Schema.NullOr(Schema.String),
  var: Schema.NullOr(Schema.String),
  condition: AlertCondition,
  /** Time in minutes for which the condition must hold; 0 fires at once. */
  for_minutes: integer(0, 24 * 60),
  actions: Schema.Array(AlertAction),
  enabled: Schema.Boolean,
  state: AlertState,
  /** Start of the state. */
  since: Timestamp,
  /** Value of the latest evaluation; null without data. */
  value: Schema.NullOr(Schema.Number),
  evaluated_at: Schema.NullOr(Timestamp),
  /** Message of the latest failed action; null if none failed since. */
  last_error: Schema.NullOr(Schema.String),
  /** Notices that are not delivered yet, the oldest first. */
  notices: Schema.Array(AlertNotice),
  /** Time of the next evaluation. Also the fence of a node that evaluates the rule. */
  due_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type Alert = typeof Alert.Type

/** Result of a condition. */
export interface Verdict {
  readonly breached: boolean
  readonly value: number | null
}

/** Maximum notices that a rule keeps while its actions fail. */
const noticesMax = 10

/** Maximum attempts at a notice, within about two hours. */
const attemptsMax = 8

/** Returns the rule after an evaluation, with a notice if it begins or ends to fire. */
export const evaluate = (alert: Alert, { breached, value }: Verdict, now: Timestamp, noticeId: string): Alert => {
  const evaluated: Alert = { ...alert, value, evaluated_at: now }
  const next = nextState(alert, breached, now)
  if (next === alert.state) return evaluated
  const changed: Alert = { ...evaluated, state: next, since: now }
  if (next === "firing") return withNotice(changed, "alert.fired", value, now, noticeId)
  return alert.state === "firing" ? withNotice(changed, "alert.resolved", value, now, noticeId) : changed
}

const nextState = ({ state, since, for_minutes }: Alert, breached: boolean, now: Timestamp): AlertState => {
  if (!breached) return "ok"
  if (state === "firing" || for_minutes === 0) return "firing"
  return state === "pending" && now - since >= for_minutes * minute ? "firing" : "pending"
}

const withNotice = (
  alert: Alert,
  type: AlertNotice["type"],
  value: number | null,
  now: Timestamp,
  noticeId: string
): Alert => ({
  ...alert,
  notices: [
    ...alert.notices,
    { notice_id: noticeId, type, at: now, value, actions: alert.actions, attempts: 0, due_at: now }
  ].slice(-noticesMax)
})

/** Returns a notice for the current state of a rule, which its receivers can recognize as a test. */
export const testNotice = ({ value, actions }: Alert, now: Timestamp, noticeId: string): AlertNotice => ({
  ...{ notice_id: noticeId, type: "alert.test", at: now, value, actions, attempts: 0, due_at: now }
})

/** An attempt at a notice: the actions that failed, and the message of one of them. */
export interface Attempted {
  readonly noticeId: string
  readonly failed: ReadonlyArray<AlertAction>
  readonly error: string | null
}

/** Returns the rule after an attempt. A notice is removed when all actions are done, or after the last attempt. */
export const attempted = (alert: Alert, { noticeId, failed, error }: Attempted, now: Timestamp): Alert => ({
  ...alert,
  last_error: error,
  notices: alert.notices.flatMap((notice) => {
    if (notice.notice_id !== noticeId) return notice
    const attempts = notice.attempts + 1
    if (failed.length === 0 || attempts >= attemptsMax) return []
    return { ...notice, actions: failed, attempts, due_at: addMillis(now, Math.min(2 ** notice.attempts, 32) * minute) }
  })
})

/** Returns the text of a condition for people. */
export const describeCondition = (condition: AlertCondition): string => {
  switch (condition.type) {
    case "failure_share":
      return `more than ${condition.share * 100} % of at least ${condition.min_runs} runs failed within ${condition.window_minutes} min`
    case "latency":
      return `p${condition.percentile} of the ${condition.of} above ${condition.over_ms} ms within ${condition.window_minutes} min`
    case "backlog": {
      const { deliveries, oldest_seconds } = condition
      const parts = [
        ...(deliveries === undefined ? [] : [`more than ${deliveries} due deliveries`]),
        ...(oldest_seconds === undefined ? [] : [`a due delivery has waited longer than ${oldest_seconds} s`])
      ]
      return parts.join(", or ")
    }
    case "silence":
      return `no run has succeeded for ${condition.minutes} min`
  }
}

/** Returns what receivers get: a JSON object. */
export const toPayload = (alert: Alert, { notice_id, type, at, value }: AlertNotice) => ({
  id: notice_id,
  type,
  at: iso(at),
  value,
  message: `${alert.name}: ${describeCondition(alert.condition)}`,
  alert: {
    ...{ alert_id: alert.alert_id, env_id: alert.env_id, name: alert.name },
    ...{ project_id: alert.project_id, project_name: alert.project_name, ns: alert.ns, var: alert.var },
    condition: alert.condition
  }
})
export type AlertPayload = ReturnType<typeof toPayload>
