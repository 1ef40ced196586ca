/** Usage of an organization against the limits of its plan (specification, "Organization usage"). */
import type { OrgId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { PlanName } from "../../tenants/orgs/Plan.ts"

export interface OrgUsage {
  readonly org_id: OrgId
  readonly usage: {
    /** Runs that began in the period, with any result. */
    readonly runs_this_period: number
    readonly file_storage_bytes: number
    readonly team_members: number
    /** Bytes of the results and logs of all stored runs. */
    readonly call_storage_bytes: number
    /** Number of stored runs. */
    readonly call_count: number
  }
  /** Limits of the plan; -1 for unlimited. */
  readonly limits: {
    readonly runs_per_month: number
    readonly storage_bytes: number
    readonly team_members: number
    readonly call_retention_days: number
    readonly call_storage_bytes: number
  }
  /** Usage in percent of the limits, with two decimals; 0 without a limit. Exceeds 100 if the usage exceeds the limit. */
  readonly usage_percent: {
    readonly runs: number
    readonly file_storage: number
    readonly team_members: number
    readonly call_storage: number
    /** True if any value exceeds 90. */
    readonly has_warning: boolean
  }
  readonly plan: {
    readonly name: PlanName
    /** First instant of the calendar month in UTC. */
    readonly period_start: Timestamp
    /** First instant of the next month. */
    readonly period_end: Timestamp
  }
}
