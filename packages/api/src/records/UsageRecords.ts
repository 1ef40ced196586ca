/** What an organization uses of its plan, on the wire. */
import { OrgId, type OrgUsage, PlanName } from "@weft/core"
import { Schema } from "effect"
import { Instant } from "./Wire.ts"

const bytes = Schema.Int.annotate({ description: "In bytes" })
const limit = Schema.Int.annotate({ description: "-1 means unlimited" })
const percent = Schema.Number.annotate({ description: "0 where there is no limit; may exceed 100" })

export const OrgUsageRecord = Schema.Struct({
  org_id: OrgId,
  usage: Schema.Struct({
    runs_this_period: Schema.Int.annotate({ description: "Runs that began in the period" }),
    file_storage_bytes: bytes,
    team_members: Schema.Int,
    call_storage_bytes: Schema.Int.annotate({ description: "Bytes of the results and logs of all stored runs" }),
    call_count: Schema.Int.annotate({ description: "Stored runs" })
  }),
  limits: Schema.Struct({
    runs_per_month: limit,
    storage_bytes: limit,
    team_members: limit,
    call_retention_days: limit,
    call_storage_bytes: limit
  }),
  usage_percent: Schema.Struct({
    runs: percent,
    file_storage: percent,
    team_members: percent,
    call_storage: percent,
    has_warning: Schema.Boolean.annotate({ description: "Whether any exceeds 90" })
  }),
  plan: Schema.Struct({ name: PlanName, period_start: Instant, period_end: Instant })
}).annotate({ identifier: "OrganizationUsage" }) satisfies Schema.Codec<OrgUsage, unknown>
