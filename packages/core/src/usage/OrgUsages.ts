/** Telling an organization what it uses of its plan. */
import { Context, Effect, Layer } from "effect"
import { type Caller, requirePermission } from "../access/Caller.ts"
import type { Forbidden, NotFound, StoreUnavailable } from "../errors/Errors.ts"
import { FileStore } from "../files/FileStore.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { monthOf } from "../tenancy/Month.ts"
import { Plans } from "../tenancy/Plans.ts"
import { UsageStore } from "../tenancy/UsageStore.ts"
import type { OrgUsage } from "./OrgUsage.ts"

export class OrgUsages extends Context.Service<
  OrgUsages,
  {
    /** Of the organization of the caller's environment, across all its environments. Needs `env: read`. */
    readonly get: Effect.Effect<OrgUsage, Forbidden | NotFound | StoreUnavailable, Caller>
  }
>()("@weft/core/usage/OrgUsages") {
  static readonly layer: Layer.Layer<OrgUsages, never, Plans | UsageStore | FileStore> = Layer.effect(
    OrgUsages,
    Effect.gen(function* () {
      const plans = yield* Plans
      const runs = yield* UsageStore
      const files = yield* FileStore

      return OrgUsages.of({
        get: Effect.gen(function* () {
          const { env_id } = yield* requirePermission("env", "*", "read")
          const { org, plan } = yield* plans.of(env_id)
          const month = monthOf(yield* currentTime)
          const usage = {
            ...(yield* runs.runs(org.org_id, month)),
            file_storage_bytes: yield* files.storageBytes(org.org_id),
            team_members: org.members
          }
          const { runs_per_month, storage_bytes, team_members, call_retention_days, call_storage_bytes } = plan
          return {
            org_id: org.org_id,
            usage,
            limits: { runs_per_month, storage_bytes, team_members, call_retention_days, call_storage_bytes },
            usage_percent: percentages({
              runs: [usage.runs_this_period, runs_per_month],
              file_storage: [usage.file_storage_bytes, storage_bytes],
              team_members: [usage.team_members, team_members],
              call_storage: [usage.call_storage_bytes, call_storage_bytes]
            }),
            plan: { name: org.plan, period_start: month.start, period_end: month.end }
          }
        })
      })
    })
  )
}

/** What is used, and the limit. */
type Share = readonly [used: number, limit: number]

const warningPercent = 90

const percentages = (shares: Record<"runs" | "file_storage" | "team_members" | "call_storage", Share>) => ({
  runs: toHundredths(percentOf(shares.runs)),
  file_storage: toHundredths(percentOf(shares.file_storage)),
  team_members: toHundredths(percentOf(shares.team_members)),
  call_storage: toHundredths(percentOf(shares.call_storage)),
  has_warning: Object.values(shares).some((share) => percentOf(share) > warningPercent)
})

/** Of a limit of 0, nothing is nothing and anything is all. */
const percentOf = ([used, limit]: Share): number => {
  if (limit === -1) return 0
  if (limit === 0) return used === 0 ? 0 : 100
  return (used / limit) * 100
}

const toHundredths = (percent: number): number => Math.round(percent * 100) / 100
