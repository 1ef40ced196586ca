/** What an organization uses of its plan (specification, "Organization usage"). */
import type { OrgId } from "../ids/Ids.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { PlanName } from "../tenancy/Plan.ts"

export interface OrgUsage {
  readonly org_id: OrgId
  readonly usage: {
    /** Runs that began in the period, whatever became of them. */
    readonly runs_this_period: number
    readonly file_storage_bytes: number
    readonly team_members: number
    /** Bytes of the results and logs of all stored runs, and how many runs those are. */
    readonly call_storage_bytes: number
    readonly call_count: number
  }
  /** -1: unlimited. */
  readonly limits: {
    readonly runs_per_month: number
    readonly storage_bytes: number
    readonly team_members: number
    readonly call_retention_days: number
    readonly call_storage_bytes: number
  }
  /** In percent of the limits, to a hundredth; 0 where there is none, and more than 100 where one is exceeded. */
  readonly usage_percent: {
    readonly runs: number
    readonly file_storage: number
    readonly team_members: number
    readonly call_storage: number
    /** Whether any exceeds 90. */
    readonly has_warning: boolean
  }
  readonly plan: {
    readonly name: PlanName
    /** The calendar month in UTC: its first instant, and that of the next. */
    readonly period_start: Timestamp
    readonly period_end: Timestamp
  }
}
