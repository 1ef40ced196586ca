/** Counts of the runs of both sides of a canary, and the decision that they lead to. Pure. */
import { Schema } from "effect"
import { addMillis, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Canary } from "./Canary.ts"

/** Counts of one side. */
export const SideCounts = Schema.Struct({
  /** Runs that ended, with success or a failure. */
  runs: Schema.Int,
  failures: Schema.Int,
  /** Numbers of runs by class of their duration: the class `n` is about 2 ** (n / 8) ms. */
  latencies: Schema.Record(Schema.String, Schema.Int)
})
export type SideCounts = typeof SideCounts.Type

export const CanaryCounts = Schema.Struct({ canary: SideCounts, base: SideCounts })
export type CanaryCounts = typeof CanaryCounts.Type

const noSide: SideCounts = { runs: 0, failures: 0, latencies: {} }

export const noCounts: CanaryCounts = { canary: noSide, base: noSide }

/** Counts that grow. */
export class SideTally {
  #runs = 0
  #failures = 0
  readonly #latencies = new Map<string, number>()

  /** @param durationMs null for a run whose duration says nothing, such as a durable one */
  add(hasFailed: boolean, durationMs: number | null): void {
    this.#runs++
    if (hasFailed) this.#failures++
    if (durationMs === null) return
    const key = String(toClass(durationMs))
    this.#latencies.set(key, (this.#latencies.get(key) ?? 0) + 1)
  }

  get counts(): SideCounts {
    return { runs: this.#runs, failures: this.#failures, latencies: Object.fromEntries(this.#latencies) }
  }
}

/** Number of classes of durations between a duration and its double: each is 9 % longer than the one before. */
const classesPerDouble = 8

const toClass = (durationMs: number): number => Math.round(Math.log2(Math.max(1, durationMs)) * classesPerDouble)

/** Returns the sum of the counts of several nodes. */
export const sumCounts = (all: ReadonlyArray<CanaryCounts>): CanaryCounts => ({
  canary: all.reduce((sum, { canary }) => addSides(sum, canary), noSide),
  base: all.reduce((sum, { base }) => addSides(sum, base), noSide)
})

const addSides = (a: SideCounts, b: SideCounts): SideCounts => {
  const latencies: Record<string, number> = { ...a.latencies }
  for (const [key, n] of Object.entries(b.latencies)) latencies[key] = (latencies[key] ?? 0) + n
  return { runs: a.runs + b.runs, failures: a.failures + b.failures, latencies }
}

/** Returns counts without some that they contain. */
export const subtractCounts = (all: CanaryCounts, some: CanaryCounts): CanaryCounts => ({
  canary: subtractSides(all.canary, some.canary),
  base: subtractSides(all.base, some.base)
})

const subtractSides = (all: SideCounts, some: SideCounts): SideCounts => {
  const latencies: Record<string, number> = { ...all.latencies }
  for (const [key, n] of Object.entries(some.latencies)) latencies[key] = (latencies[key] ?? 0) - n
  return { runs: all.runs - some.runs, failures: all.failures - some.failures, latencies }
}

/** Returns the share of failed runs; 0 without runs. */
export const failureShare = ({ runs, failures }: SideCounts): number => (runs === 0 ? 0 : failures / runs)

/** Returns the 95th percentile of the durations in milliseconds, within 5 %; null without durations. */
export const p95 = ({ latencies }: SideCounts): number | null => {
  const classes = Object.entries(latencies)
    .map(([key, n]) => ({ key: Number(key), n }))
    .sort((a, b) => a.key - b.key)
  const total = classes.reduce((sum, { n }) => sum + n, 0)
  let seen = 0
  for (const { key, n } of classes) {
    seen += n
    if (seen >= total * 0.95) return 2 ** (key / classesPerDouble)
  }
  return null
}

/** Returns the end of the time in which the rules observe a canary. */
export const windowEnd = ({ started_at, settings }: Pick<Canary, "started_at" | "settings">): Timestamp =>
  addMillis(started_at, settings.window_ms)

/** The end of a canary by its rules. */
export interface CanaryDecision {
  readonly state: "promoted" | "rolled_back"
  readonly reason: string
}

/** Returns the decision of the rules; null while they decide nothing. */
export const decide = (
  canary: Pick<Canary, "started_at" | "settings">,
  counts: CanaryCounts,
  now: Timestamp
): CanaryDecision | null => {
  const { min_runs, promote } = canary.settings
  if (counts.canary.runs < min_runs) return null
  const broken = findBroken(canary.settings, counts)
  if (broken !== null) return { state: "rolled_back", reason: broken }
  if (promote !== "auto" || now < windowEnd(canary)) return null
  return { state: "promoted", reason: `No rule was broken: ${describeFailures(counts.canary)}` }
}

const findBroken = (settings: Canary["settings"], { canary, base }: CanaryCounts): string | null => {
  const { max_failure_share, max_failure_share_over_base, max_latency_ratio, min_runs } = settings
  const share = failureShare(canary)
  if (max_failure_share !== null && share > max_failure_share)
    return `${describeFailures(canary)}, more than max_failure_share ${percent(max_failure_share)}`
  if (max_failure_share_over_base !== null && share > failureShare(base) + max_failure_share_over_base)
    return `${describeFailures(canary)}, and of the deployed build ${describeFailures(base)}: the difference exceeds max_failure_share_over_base ${percent(max_failure_share_over_base)}`
  // A percentile of few runs is an accident.
  if (max_latency_ratio === null || base.runs < min_runs) return null
  const [slow, usual] = [p95(canary), p95(base)]
  if (slow === null || usual === null || slow <= usual * max_latency_ratio) return null
  return `The 95th percentile is ${Math.round(slow)} ms, and of the deployed build ${Math.round(usual)} ms: the ratio exceeds max_latency_ratio ${max_latency_ratio}`
}

const describeFailures = (side: SideCounts): string =>
  `${side.failures} of ${side.runs} runs failed (${percent(failureShare(side))})`

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`
