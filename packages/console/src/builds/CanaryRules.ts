/** The rules of a canary, with what the counts of both builds say about them. Pure. */
import type { Canary } from "@weft/client"

export interface CanaryRule {
  readonly kind: "overBase" | "maxShare" | "maxRatio"
  readonly limit: number
  /** `open` until there are enough runs. */
  readonly state: "holds" | "broken" | "open"
}

/** Returns the ratio of the 95th percentiles, or null without runs on both sides. */
export const latencyRatio = ({ canary, base }: Canary["counts"]): number | null =>
  canary.p95_ms === null || base.p95_ms === null ? null : canary.p95_ms / Math.max(1, base.p95_ms)

export const rulesOf = ({ settings, counts }: Pick<Canary, "settings" | "counts">): ReadonlyArray<CanaryRule> => {
  const { canary, base } = counts
  const { max_failure_share, max_failure_share_over_base, max_latency_ratio, min_runs } = settings
  const judge = (isBroken: boolean, runs: number): CanaryRule["state"] => {
    if (runs < min_runs) return "open"
    return isBroken ? "broken" : "holds"
  }
  const rules: Array<CanaryRule> = []
  if (max_failure_share_over_base !== null) {
    const isBroken = canary.failure_share - base.failure_share > max_failure_share_over_base
    rules.push({ kind: "overBase", limit: max_failure_share_over_base, state: judge(isBroken, canary.runs) })
  }
  if (max_failure_share !== null) {
    const isBroken = canary.failure_share > max_failure_share
    rules.push({ kind: "maxShare", limit: max_failure_share, state: judge(isBroken, canary.runs) })
  }
  if (max_latency_ratio !== null) {
    // The percentiles need enough runs of both builds.
    const isBroken = (latencyRatio(counts) ?? 0) > max_latency_ratio
    rules.push({ kind: "maxRatio", limit: max_latency_ratio, state: judge(isBroken, Math.min(canary.runs, base.runs)) })
  }
  return rules
}
