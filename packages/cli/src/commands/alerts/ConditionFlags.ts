/** Flags that make up the condition of an alert rule. */
import type { Alert } from "@weft/client"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { usageError } from "../../Failure.ts"
import { parseDuration } from "../../input/Duration.ts"

type Condition = Alert["condition"]

const time = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("time"),
    Flag.filterMap(parseDuration, (text) => `Expected: a time such as 30s, 5m or 1h, not ${text}`),
    Flag.withDescription(description)
  )

const percentForm = /^(\d{1,3}(?:\.\d+)?)%$/

const latencyForm = /^p(50|95|99):(.+)$/

const parseLatency = (text: string): Option.Option<Limit> => {
  const [, percentile, limit = ""] = latencyForm.exec(text) ?? []
  const millis = /^(\d+)ms$/.exec(limit)?.[1]
  const over =
    millis === undefined ? Option.map(parseDuration(limit), (seconds) => seconds * 1000) : Option.some(Number(millis))
  return Option.map(over, (over_ms) => ({
    percentile: percentile === "50" ? 50 : percentile === "95" ? 95 : 99,
    over_ms
  }))
}

const latency = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("p95:2s"),
    Flag.filterMap(
      parseLatency,
      (text) => `Expected: a percentile and a time such as p95:2s or p99:500ms, not ${text}`
    ),
    Flag.withDescription(description),
    Flag.optional
  )

const positive = (name: string, description: string) =>
  Flag.Int(name).pipe(
    Flag.filter(
      (count) => count >= 0,
      () => "Expected: a number of at least 0"
    ),
    Flag.withDescription(description)
  )

export const conditionFlags = {
  failures: Flag.String("failures").pipe(
    Flag.withMetavar("10%"),
    Flag.filterMap(
      (text) => Option.map(Option.fromNullishOr(percentForm.exec(text)?.[1]), Number),
      (text) => `Expected: a share such as 10%, not ${text}`
    ),
    Flag.withDescription("Fire when more than this share of the runs failed"),
    Flag.optional
  ),
  latency: latency("latency", "Fire when a percentile of the durations is above"),
  wait: latency("wait", "Fire when a percentile of the waits for a start is above"),
  backlog: positive("backlog", "Fire with more due deliveries than this").pipe(Flag.optional),
  oldest: time("oldest", "Fire when a due delivery has waited longer").pipe(Flag.optional),
  silence: time("silence", "Fire when no run has succeeded for this time").pipe(Flag.optional),
  window: time("window", "Period of --failures, --latency and --wait; 5m by default").pipe(Flag.withDefault(300)),
  minRuns: positive("min-runs", "Fewer runs in the period do not fire; 1 by default").pipe(Flag.withDefault(1))
}

/** A percentile and its limit. */
export interface Limit {
  readonly percentile: 50 | 95 | 99
  readonly over_ms: number
}

interface Flags {
  readonly failures: Option.Option<number>
  readonly latency: Option.Option<Limit>
  readonly wait: Option.Option<Limit>
  readonly backlog: Option.Option<number>
  readonly oldest: Option.Option<number>
  readonly silence: Option.Option<number>
  readonly window: number
  readonly minRuns: number
}

const toMinutes = (seconds: number): number => Math.ceil(seconds / 60)

/** Returns the condition; fails unless the flags name exactly one. */
export const readCondition = Effect.fnUntraced(function* (flags: Flags) {
  const counted = { min_runs: Math.max(1, flags.minRuns), window_minutes: toMinutes(flags.window) }
  const hasBacklog = Option.isSome(flags.backlog) || Option.isSome(flags.oldest)
  const conditions: ReadonlyArray<Option.Option<Condition>> = [
    Option.map(flags.failures, (percent) => ({ type: "failure_share", share: percent / 100, ...counted })),
    Option.map(flags.latency, (limit) => ({ type: "latency", of: "duration", ...limit, ...counted })),
    Option.map(flags.wait, (limit) => ({ type: "latency", of: "wait", ...limit, ...counted })),
    hasBacklog ? Option.some(toBacklog(flags)) : Option.none(),
    Option.map(flags.silence, (seconds) => ({ type: "silence", minutes: toMinutes(seconds) }))
  ]
  const [condition, ...others] = conditions.flatMap((each) => (Option.isSome(each) ? [each.value] : []))
  if (condition === undefined || others.length > 0)
    return yield* usageError(
      "Give one condition",
      "--failures, --latency, --wait, --silence, or --backlog and --oldest"
    )
  return condition
})

const toBacklog = ({ backlog, oldest }: Flags): Condition => ({
  type: "backlog",
  ...(Option.isNone(backlog) ? {} : { deliveries: backlog.value }),
  ...(Option.isNone(oldest) ? {} : { oldest_seconds: oldest.value })
})
