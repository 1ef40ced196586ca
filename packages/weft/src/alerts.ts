/** Alert rules, for hosts. */
import type { AlertPayload, WeftEnv } from "@weft/core"
import { toPage } from "./convert.ts"
import type { EnvHandle } from "./Env.ts"
import { rejecting } from "./errors.ts"
import { toPageRequest } from "./inputs.ts"

/** A condition of an alert rule. */
export type AlertCondition =
  /** More than this share of the runs within the window failed, 0 to 1. */
  | {
      readonly type: "failure_share"
      readonly share: number
      readonly minRuns: number
      readonly windowMinutes: number
    }
  /** A percentile of the times within the window is above. `wait` is the time until the start. */
  | {
      readonly type: "latency"
      readonly of: "duration" | "wait"
      readonly percentile: 50 | 95 | 99
      readonly overMs: number
      readonly minRuns: number
      readonly windowMinutes: number
    }
  /** More due deliveries, or one that has waited longer. */
  | { readonly type: "backlog"; readonly deliveries?: number; readonly oldestSeconds?: number }
  /** No run has succeeded for this time. */
  | { readonly type: "silence"; readonly minutes: number }

/** `webhook` sends a signed request, `event` publishes an event, and `hook` calls `onAlert` of `createWeft`. */
export type AlertAction = { readonly type: "webhook"; readonly url: string } | { readonly type: "event" | "hook" }

/** An alert rule about a function, a project, or without both the environment. */
export interface NewAlert {
  /** 1 to 100 characters. */
  readonly name: string
  /** Id or name of a project. */
  readonly project?: string
  /** `ns/var` with `project`, or `project:ns/var`. */
  readonly fn?: string
  readonly condition: AlertCondition
  /** Minutes for which the condition must hold; 0 by default. */
  readonly forMinutes?: number
  /** 1 to 5. */
  readonly actions: ReadonlyArray<AlertAction>
  /** True by default. */
  readonly enabled?: boolean
}

export interface Alert {
  readonly id: string
  readonly name: string
  readonly projectId: string | null
  readonly projectName: string | null
  readonly ns: string | null
  readonly var: string | null
  readonly condition: AlertCondition
  readonly forMinutes: number
  readonly actions: ReadonlyArray<AlertAction>
  readonly enabled: boolean
  /** `pending`: the condition is true, but not yet for long enough. */
  readonly state: "ok" | "pending" | "firing"
  /** Start of the state. */
  readonly since: Date
  /** Value of the latest evaluation; null without data. */
  readonly value: number | null
  readonly evaluatedAt: Date | null
  /** Message of the action that failed last; null if the latest notification succeeded. */
  readonly lastError: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A rule with the secret that signs its webhooks, such as `whsec_…`. */
export interface AlertWithSecret extends Alert {
  readonly webhookSecret: string
}

export interface AlertTest {
  /** `error` is null if the action succeeded. */
  readonly results: ReadonlyArray<{ readonly action: AlertAction; readonly error: string | null }>
  readonly webhookSecret: string
}

/** The notification that `onAlert` receives. */
export interface AlertNotification {
  /** The same if the call is repeated. */
  readonly id: string
  readonly type: "alert.fired" | "alert.resolved" | "alert.test"
  readonly at: Date
  readonly value: number | null
  /** Name and condition of the rule, for people. */
  readonly message: string
  readonly alertId: string
  readonly envId: string
  readonly name: string
  readonly projectName: string | null
  readonly ns: string | null
  readonly var: string | null
}

type AlertRow = Awaited<ReturnType<WeftEnv["alerts"]["get"]>>
type AlertInput = Parameters<WeftEnv["alerts"]["create"]>[0]
type ConditionRow = AlertRow["condition"]

export const toAlerts = ({ alerts }: WeftEnv): EnvHandle["alerts"] => ({
  list: (page) => rejecting(async () => toPage(toAlert)(await alerts.list(toPageRequest(page)))),
  get: (alertId) => rejecting(async () => toAlert(await alerts.get(alertId))),
  create: ({ project, fn, name, condition, actions, forMinutes, enabled }) =>
    rejecting(async () =>
      toAlertWithSecret(
        await alerts.create({
          ...{ project, fn, name, actions, enabled },
          condition: toConditionRow(condition),
          for_minutes: forMinutes
        })
      )
    ),
  update: (alertId, { condition, forMinutes, ...change }) =>
    rejecting(async () =>
      toAlertWithSecret(
        await alerts.update(alertId, {
          ...change,
          condition: condition === undefined ? undefined : toConditionRow(condition),
          for_minutes: forMinutes
        })
      )
    ),
  remove: (alertId) => rejecting(() => alerts.remove(alertId)),
  test: (alertId) =>
    rejecting(async () => {
      const { results, webhook_secret } = await alerts.test(alertId)
      return { results, webhookSecret: webhook_secret }
    })
})

const toAlert = (row: AlertRow): Alert => ({
  id: row.alert_id,
  name: row.name,
  projectId: row.project_id,
  projectName: row.project_name,
  ns: row.ns,
  var: row.var,
  condition: toCondition(row.condition),
  forMinutes: row.for_minutes,
  actions: row.actions,
  enabled: row.enabled,
  state: row.state,
  since: new Date(row.since),
  value: row.value,
  evaluatedAt: row.evaluated_at === null ? null : new Date(row.evaluated_at),
  lastError: row.last_error,
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at)
})

const toAlertWithSecret = (row: Awaited<ReturnType<WeftEnv["alerts"]["create"]>>): AlertWithSecret => ({
  ...toAlert(row),
  webhookSecret: row.webhook_secret
})

const toCondition = (row: ConditionRow): AlertCondition => {
  switch (row.type) {
    case "failure_share":
      return { type: row.type, share: row.share, minRuns: row.min_runs, windowMinutes: row.window_minutes }
    case "latency": {
      const { type, of, percentile, over_ms, min_runs, window_minutes } = row
      return { type, of, percentile, overMs: over_ms, minRuns: min_runs, windowMinutes: window_minutes }
    }
    case "backlog":
      return {
        type: row.type,
        ...(row.deliveries === undefined ? {} : { deliveries: row.deliveries }),
        ...(row.oldest_seconds === undefined ? {} : { oldestSeconds: row.oldest_seconds })
      }
    case "silence":
      return row
  }
}

const toConditionRow = (condition: AlertCondition): AlertInput["condition"] => {
  switch (condition.type) {
    case "failure_share": {
      const { type, share, minRuns, windowMinutes } = condition
      return { type, share, min_runs: minRuns, window_minutes: windowMinutes }
    }
    case "latency": {
      const { type, of, percentile, overMs, minRuns, windowMinutes } = condition
      return { type, of, percentile, over_ms: overMs, min_runs: minRuns, window_minutes: windowMinutes }
    }
    case "backlog": {
      const { type, deliveries, oldestSeconds } = condition
      return {
        type,
        ...(deliveries === undefined ? {} : { deliveries }),
        ...(oldestSeconds === undefined ? {} : { oldest_seconds: oldestSeconds })
      }
    }
    case "silence":
      return condition
  }
}

export const toAlertNotification = ({ id, type, at, value, message, alert }: AlertPayload): AlertNotification => ({
  ...{ id, type, value, message },
  at: new Date(at),
  alertId: alert.alert_id,
  envId: alert.env_id,
  name: alert.name,
  projectName: alert.project_name,
  ns: alert.ns,
  var: alert.var
})
