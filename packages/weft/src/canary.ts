/** Canaries of projects for hosts: the options of a deployment, and the record. */
import type { CanaryStatus, NewCanary as CoreCanary, WeftEnv } from "@weft/core"
import type { EnvHandle } from "./Env.ts"
import { rejecting } from "./errors.ts"

/** Share and rules of a canary. */
export interface NewCanary {
  /** Share of the events and calls, more than 0 and less than 1. */
  readonly share: number
  /** Expression on the event whose values stay on one side, such as `event.data.customer`. */
  readonly key?: string
  /** Time until the rules decide: `10m` by default, or a number of milliseconds. */
  readonly window?: string | number
  /** Ended runs of the canary before any rule decides; 20 by default. */
  readonly minRuns?: number
  readonly maxFailureShare?: number
  /** Maximum by which the share of failed runs exceeds that of the deployed build; 0.05 if no maximum is given. */
  readonly maxFailureShareOverBase?: number
  /** Maximum ratio of the 95th percentiles of the durations; by default none. */
  readonly maxLatencyRatio?: number
  /** `auto` by default: the canary becomes the deployed build at the end of the window. */
  readonly promote?: "auto" | "manual"
}

export interface DeployOptions {
  readonly canary?: NewCanary
  /** Ends an active canary of the project. Without it, the deployment fails with the code `canary_active`. */
  readonly replace?: boolean
}

/** Ended runs of one side of a canary. */
export interface CanarySide {
  readonly runs: number
  readonly failures: number
  readonly failureShare: number
  /** 95th percentile of the durations in milliseconds, within 5 %; null without runs. */
  readonly p95Ms: number | null
}

export interface Canary {
  readonly id: string
  readonly projectId: string
  readonly buildId: string
  /** The deployed build, which gets the rest. */
  readonly baseBuildId: string
  /** `replaced`: another build was deployed. */
  readonly state: "active" | "promoted" | "rolled_back" | "replaced"
  readonly share: number
  readonly key: string | null
  readonly minRuns: number
  readonly promote: "auto" | "manual"
  readonly startedAt: Date
  readonly windowEndsAt: Date
  readonly endedAt: Date | null
  /** Reason for the end; null while it is active. */
  readonly reason: string | null
  readonly counts: { readonly canary: CanarySide; readonly base: CanarySide }
}

export const toDeployOptions = ({ canary, replace }: DeployOptions) => ({
  ...(canary === undefined ? {} : { canary: toNewCanary(canary) }),
  ...(replace === undefined ? {} : { replace })
})

const toNewCanary = (canary: NewCanary): CoreCanary => {
  const { minRuns, maxFailureShare, maxFailureShareOverBase, maxLatencyRatio, ...rest } = canary
  return {
    ...rest,
    ...(minRuns === undefined ? {} : { min_runs: minRuns }),
    ...(maxFailureShare === undefined ? {} : { max_failure_share: maxFailureShare }),
    ...(maxFailureShareOverBase === undefined ? {} : { max_failure_share_over_base: maxFailureShareOverBase }),
    ...(maxLatencyRatio === undefined ? {} : { max_latency_ratio: maxLatencyRatio })
  }
}

export const toCanaries = ({ canaries }: WeftEnv): EnvHandle["canaries"] => ({
  get: (project) => rejecting(async () => toCanary(await canaries.get(project))),
  promote: (project) => rejecting(async () => toCanary(await canaries.promote(project))),
  rollback: (project) => rejecting(async () => toCanary(await canaries.rollback(project)))
})

const toCanary = ({ settings, counts, ...row }: CanaryStatus): Canary => ({
  id: row.canary_id,
  projectId: row.project_id,
  buildId: row.build_id,
  baseBuildId: row.base_build_id,
  state: row.state,
  share: settings.share,
  key: settings.key,
  minRuns: settings.min_runs,
  promote: settings.promote,
  startedAt: new Date(row.started_at),
  windowEndsAt: new Date(row.window_ends_at),
  endedAt: row.ended_at === null ? null : new Date(row.ended_at),
  reason: row.reason,
  counts: { canary: toSide(counts.canary), base: toSide(counts.base) }
})

const toSide = ({ runs, failures, failure_share, p95_ms }: CanaryStatus["counts"]["base"]): CanarySide => ({
  runs,
  failures,
  failureShare: failure_share,
  p95Ms: p95_ms
})
