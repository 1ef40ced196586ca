/** Reports the usage of an organization. */
import { Context, Effect, Layer } from "effect"
import type { Forbidden, NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { monthOf } from "../../tenants/orgs/Month.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import type { Org } from "../../tenants/orgs/Tenant.ts"
import { UsageStore } from "../../tenants/orgs/UsageStore.ts"
import { FileStore } from "../files/FileStore.ts"
import type { OrgUsage } from "./OrgUsage.ts"

export class OrgUsages extends Context.Service<
  OrgUsages,
  {
    /** Returns the usage of the caller's organization across all its environments. Needs `env: read`. */
    readonly get: Effect.Effect<OrgUsage, Forbidden | NotFound | StoreUnavailable, Caller>
    /** Returns the usage of an organization, for the host: checks no permission. */
    readonly of: (org: Org) => Effect.Effect<OrgUsage, StoreUnavailable>
  }
>()("@weft/core/resources/usage/OrgUsages") {
  static readonly layer: Layer.Layer<OrgUsages, never, Plans | UsageStore | FileStore> = Layer.effect(
    OrgUsages,
    Effect.gen(function* () {
      const plans = yield* Plans
      const runs = yield* UsageStore
      const files = yield* FileStore

      const usageOf = Effect.fnUntraced(function* (org: Org) {
        const plan = plans.table[org.plan]
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

      return OrgUsages.of({
        get: Effect.gen(function* () {
          const { env_id } = yield* requirePermission("env", "*", "read")
          const { org } = yield* plans.of(env_id)
          return yield* usageOf(org)
        }),
        of: usageOf
      })
    })
  )
}

/** Usage and its limit. */
type Share = readonly [used: number, limit: number]

const warningPercent = 90

const percentages = (shares: Record<"runs" | "file_storage" | "team_members" | "call_storage", Share>) => ({
  runs: toHundredths(toPercent(shares.runs)),
  file_storage: toHundredths(toPercent(shares.file_storage)),
  team_members: toHundredths(toPercent(shares.team_members)),
  call_storage: toHundredths(toPercent(shares.call_storage)),
  has_warning: Object.values(shares).some((share) => toPercent(share) > warningPercent)
})

/** Returns the percentage. With a limit of 0, any usage is 100 %. */
const toPercent = ([used, limit]: Share): number => {
  if (limit === -1) return 0
  if (limit === 0) return used === 0 ? 0 : 100
  return (used / limit) * 100
}

const toHundredths = (percent: number): number => Math.round(percent * 100) / 100
