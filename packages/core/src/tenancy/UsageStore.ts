/** What an organization's runs use, from kept counts: no question scans what it counts. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { OrgId } from "../ids/Ids.ts"
import type { Month } from "./Month.ts"

export const RunUsage = Schema.Struct({
  /** Runs of all types that began in the month, those that were removed since included. */
  runs_this_period: Schema.Int,
  /** Runs that are stored, of all types and states. */
  call_count: Schema.Int,
  /** UTF-8 bytes of their results and logs, both as JSON text. */
  call_storage_bytes: Schema.Int
})
export type RunUsage = typeof RunUsage.Type

export class UsageStore extends Context.Service<
  UsageStore,
  {
    /**
     * Across the organization's environments; zeros for an unknown one. `month` is the present one: of months before
     * the last in which a run began, what is left may be less than there was.
     */
    readonly runs: (orgId: OrgId, month: Month) => Effect.Effect<RunUsage, StoreUnavailable>
  }
>()("@weft/core/tenancy/UsageStore") {}
