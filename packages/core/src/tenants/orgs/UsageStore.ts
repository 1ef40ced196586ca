/** Usage of an organization's runs, from maintained counters: queries do not scan the runs. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, OrgId } from "../../foundation/Ids.ts"
import type { Month } from "./Month.ts"

export const RunUsage = Schema.Struct({
  /** Runs of all types that began in the month, including those removed since. */
  runs_this_period: Schema.Int,
  /** Stored runs of all types and states. */
  call_count: Schema.Int,
  /** UTF-8 bytes of the results and logs of stored runs, both as JSON text. */
  call_storage_bytes: Schema.Int
})
export type RunUsage = typeof RunUsage.Type

export class UsageStore extends Context.Service<
  UsageStore,
  {
    /**
     * Returns the usage across the organization's environments, or zeros for an unknown organization. `month` is the
     * current month: for months before the last one in which a run began, the count may be too low.
     */
    readonly runs: (orgId: OrgId, month: Month) => Effect.Effect<RunUsage, StoreUnavailable>
    /** Counts the suspended runs of an environment, up to `limit`. */
    readonly suspended: (envId: EnvId, limit: number) => Effect.Effect<number, StoreUnavailable>
    /** Counts deliveries of the environment that no run holds, up to `limit`: pending, future, parked and suspended ones. */
    readonly pendingDeliveries: (envId: EnvId, limit: number) => Effect.Effect<number, StoreUnavailable>
    /** Counts dynamic schedules of the environment, up to `limit`. */
    readonly dynamicSchedules: (envId: EnvId, limit: number) => Effect.Effect<number, StoreUnavailable>
  }
>()("@weft/core/tenants/orgs/UsageStore") {}
