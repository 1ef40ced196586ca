/** Texts about alert rules. */
import type { Alert } from "@weft/client"
import { formatCount, formatDuration, formatPercent } from "../text/format.ts"
import { t } from "../text/Language.ts"

const minuteMs = 60_000

export type ShownState = Alert["state"] | "off"

export const stateOf = ({ enabled, state }: Alert): ShownState => (enabled ? state : "off")

/** Class of the badge of each state. */
export const stateBadges: Readonly<Record<ShownState, string>> = {
  ok: "succeeded",
  pending: "waiting",
  firing: "failed",
  off: ""
}

/** Returns the scope of a rule. */
export const scopeOf = ({ project_name, ns, var: name }: Alert): string => {
  if (project_name === null) return t().alerts.environment
  return ns === null ? t().alerts.project(project_name) : `${project_name}:${ns}/${name}`
}

/** Returns the condition of a rule, as the end of "fires when". */
export const conditionOf = ({ condition }: Alert): string => {
  const texts = t().alerts.conditions
  const window = (minutes: number) => formatDuration(minutes * minuteMs)
  switch (condition.type) {
    case "failure_share":
      return texts.failure_share(
        formatPercent(condition.share),
        formatCount(condition.min_runs),
        window(condition.window_minutes)
      )
    case "latency":
      return texts.latency(
        t().alerts.percentiles[condition.of](condition.percentile),
        formatDuration(condition.over_ms),
        window(condition.window_minutes)
      )
    case "backlog": {
      const { deliveries, oldest_seconds } = condition
      const parts = [
        ...(deliveries === undefined ? [] : [texts.deliveries(formatCount(deliveries))]),
        ...(oldest_seconds === undefined ? [] : [texts.oldest(formatDuration(oldest_seconds * 1000))])
      ]
      return parts.join(` ${texts.or} `)
    }
    case "silence":
      return texts.silence(window(condition.minutes))
  }
}

/** Returns the latest value of a rule with its unit. */
export const valueOf = ({ condition, value }: Alert): string => {
  if (value === null) return t().alerts.noValue
  switch (condition.type) {
    case "failure_share":
      return formatPercent(value)
    case "latency":
      return formatDuration(value)
    case "backlog":
      if (condition.deliveries === undefined) return formatDuration(value * 1000)
      // With both limits, the value has the unit of the exceeded one, which the record does not have.
      return condition.oldest_seconds === undefined
        ? t().alerts.units.deliveries(formatCount(value))
        : formatCount(value)
    case "silence":
      return t().alerts.units.minutes(value === 0 ? "0 min" : formatDuration(value * minuteMs))
  }
}

/** Returns an action for people. */
export const actionOf = (action: Alert["actions"][number]): string =>
  "url" in action ? t().alerts.webhook(action.url) : (t().alerts.actionNames[action.type] ?? action.type)
