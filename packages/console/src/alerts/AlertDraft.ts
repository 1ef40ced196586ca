/** Fields of the form for alert rules, with the rule and the command that they describe. Pure. */
import type { Alert, AlertInput } from "@weft/client"
import { curlCommand, shellWord } from "../design/shellCommand.ts"

export const scopes = ["function", "project", "environment"] as const
export const conditionKinds = ["failure_share", "latency", "backlog", "silence"] as const
export const percentiles = [50, 95, 99] as const
export const latencies = ["duration", "wait"] as const

type Condition = Alert["condition"]

/** Texts of inputs, so that a person can leave one empty while typing. */
export interface AlertDraft {
  readonly name: string
  readonly scope: (typeof scopes)[number]
  readonly project: string
  readonly fn: string
  readonly kind: (typeof conditionKinds)[number]
  readonly percent: string
  readonly of: (typeof latencies)[number]
  readonly percentile: (typeof percentiles)[number]
  readonly overMs: string
  readonly minRuns: string
  readonly windowMinutes: string
  readonly deliveries: string
  readonly oldestSeconds: string
  readonly silenceMinutes: string
  readonly heldMinutes: string
  /** A URL in each line. */
  readonly webhooks: string
  readonly event: boolean
  readonly hook: boolean
}

export const emptyDraft: AlertDraft = {
  ...{ name: "", scope: "function", project: "", fn: "" },
  ...{ kind: "failure_share", percent: "10", minRuns: "20", windowMinutes: "5" },
  ...{ of: "duration", percentile: 95, overMs: "2000" },
  ...{ deliveries: "100", oldestSeconds: "", silenceMinutes: "1440", heldMinutes: "0" },
  ...{ webhooks: "", event: true, hook: false }
}

/** Returns the fields of a rule. Its scope never changes. */
export const toDraft = ({
  name,
  condition,
  for_minutes,
  actions
}: Pick<Alert, "name" | "condition" | "for_minutes" | "actions">): AlertDraft => ({
  ...emptyDraft,
  ...conditionFields(condition),
  name,
  heldMinutes: String(for_minutes),
  webhooks: actions.flatMap((action) => ("url" in action ? [action.url] : [])).join("\n"),
  event: actions.some(({ type }) => type === "event"),
  hook: actions.some(({ type }) => type === "hook")
})

const conditionFields = (condition: Condition): Partial<AlertDraft> => {
  switch (condition.type) {
    case "failure_share":
      // Without the digits that binary fractions add, as in 7.000000000000001.
      return {
        kind: "failure_share",
        percent: String(Number((condition.share * 100).toFixed(6))),
        ...counted(condition)
      }
    case "latency":
      return {
        ...{ kind: "latency", of: condition.of, percentile: condition.percentile, overMs: String(condition.over_ms) },
        ...counted(condition)
      }
    case "backlog":
      return {
        kind: "backlog",
        deliveries: condition.deliveries?.toString() ?? "",
        oldestSeconds: condition.oldest_seconds?.toString() ?? ""
      }
    case "silence":
      return { kind: "silence", silenceMinutes: String(condition.minutes) }
  }
}

const counted = ({ min_runs, window_minutes }: { readonly min_runs: number; readonly window_minutes: number }) => ({
  minRuns: String(min_runs),
  windowMinutes: String(window_minutes)
})

const toCondition = (draft: AlertDraft): Condition => {
  const window = { min_runs: Number(draft.minRuns), window_minutes: Number(draft.windowMinutes) }
  switch (draft.kind) {
    case "failure_share":
      return { type: "failure_share", share: Number((Number(draft.percent) / 100).toFixed(8)), ...window }
    case "latency":
      return {
        ...{ type: "latency", of: draft.of, percentile: draft.percentile, over_ms: Number(draft.overMs) },
        ...window
      }
    case "backlog":
      return {
        type: "backlog",
        ...(draft.deliveries === "" ? {} : { deliveries: Number(draft.deliveries) }),
        ...(draft.oldestSeconds === "" ? {} : { oldest_seconds: Number(draft.oldestSeconds) })
      }
    case "silence":
      return { type: "silence", minutes: Number(draft.silenceMinutes) }
  }
}

const urlsOf = ({ webhooks }: AlertDraft): ReadonlyArray<string> =>
  webhooks.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]))

/** Returns the fields of a rule that can change. */
export const toChange = (draft: AlertDraft) => ({
  name: draft.name.trim(),
  condition: toCondition(draft),
  for_minutes: Number(draft.heldMinutes),
  actions: [
    ...urlsOf(draft).map((url) => ({ type: "webhook" as const, url })),
    ...(draft.event ? [{ type: "event" as const }] : []),
    ...(draft.hook ? [{ type: "hook" as const }] : [])
  ]
})

export const toInput = (draft: AlertDraft): AlertInput => ({
  ...toChange(draft),
  ...(draft.scope === "environment" ? {} : { project: draft.project.trim() }),
  ...(draft.scope === "function" ? { fn: draft.fn.trim() } : {})
})

/** Returns the command that creates the rule. The command line has one webhook for each rule. */
export const createCommand = (draft: AlertDraft): string => {
  const urls = urlsOf(draft)
  if (urls.length > 1) return curlCommand("POST", "/alerts", toInput(draft))
  const project = draft.project.trim() || "shop"
  const target = {
    environment: "",
    project: ` --project ${shellWord(project)}`,
    function: ` ${shellWord(`${project}:${draft.fn.trim() || "orders/confirm"}`)}`
  }[draft.scope]
  return [
    `weft alerts create ${shellWord(draft.name.trim() || "orders fail")}${target}${conditionFlags(draft)}`,
    Number(draft.heldMinutes) > 0 ? ` --for ${draft.heldMinutes}m` : "",
    ...urls.map((url) => ` --webhook ${shellWord(url)}`),
    draft.event ? " --event" : "",
    draft.hook ? " --hook" : ""
  ].join("")
}

const conditionFlags = (draft: AlertDraft): string => {
  const window = ` --min-runs ${draft.minRuns} --window ${draft.windowMinutes}m`
  switch (draft.kind) {
    case "failure_share":
      return ` --failures ${draft.percent}%${window}`
    case "latency":
      return ` --${draft.of === "wait" ? "wait" : "latency"} p${draft.percentile}:${draft.overMs}ms${window}`
    case "backlog":
      return `${draft.deliveries === "" ? "" : ` --backlog ${draft.deliveries}`}${draft.oldestSeconds === "" ? "" : ` --oldest ${draft.oldestSeconds}s`}`
    case "silence":
      return ` --silence ${draft.silenceMinutes}m`
  }
}
