/** Text for alert rules. */
import type { Alert } from "@weft/client"

/** Returns the scope of a rule. */
export const formatScope = ({ project_name, ns, var: name }: Alert): string => {
  if (project_name === null) return "the environment"
  return ns === null ? `project ${project_name}` : `${project_name}:${ns}/${name}`
}

/** Returns the condition of a rule. */
export const formatCondition = ({ condition }: Alert): string => {
  switch (condition.type) {
    case "failure_share":
      return `over ${condition.share * 100} % of at least ${condition.min_runs} runs fail within ${condition.window_minutes} min`
    case "latency":
      return `p${condition.percentile} of the ${condition.of} over ${condition.over_ms} ms within ${condition.window_minutes} min`
    case "backlog": {
      const { deliveries, oldest_seconds } = condition
      const parts = [
        ...(deliveries === undefined ? [] : [`over ${deliveries} due deliveries`]),
        ...(oldest_seconds === undefined ? [] : [`a wait over ${oldest_seconds} s`])
      ]
      return parts.join(" or ")
    }
    case "silence":
      return `no success for ${condition.minutes} min`
  }
}

/** Returns the state of a rule; `off` if it is disabled. */
export const formatState = ({ enabled, state }: Alert): string => (enabled ? state : "off")
