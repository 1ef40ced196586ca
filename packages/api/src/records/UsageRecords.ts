/** Wire format of an organization's usage. */
import type { OrgUsage } from "@weft/core"
import { OrgId, PlanName } from "@weft/core"
import { Schema } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { instant } from "./Wire.ts"

const bytes = Schema.Int.annotate({ description: "In bytes" })
const limit = Schema.Int.annotate({ description: "-1 for unlimited" })
const percent = Schema.Number.annotate({ description: "0 without a limit; may exceed 100" })

export const OrgUsageRecord = Schema.Struct({
  org_id: OrgId,
  usage: Schema.Struct({
    runs_this_period: Schema.Int.annotate({ description: "Runs that began in the period", examples: [41_250] }),
    file_storage_bytes: example(bytes, 5_368_709_120),
    team_members: example(Schema.Int, 7),
    call_storage_bytes: Schema.Int.annotate({
      description: "Bytes of the results and logs of all stored runs",
      examples: [1_073_741_824]
    }),
    call_count: Schema.Int.annotate({ description: "Number of stored runs", examples: [96_300] })
  }),
  limits: Schema.Struct({
    runs_per_month: example(limit, 1_000_000),
    storage_bytes: example(limit, 107_374_182_400),
    team_members: example(limit, 20),
    call_retention_days: example(limit, 30),
    call_storage_bytes: example(limit, 53_687_091_200)
  }),
  usage_percent: Schema.Struct({
    runs: example(percent, 4.13),
    file_storage: example(percent, 5),
    team_members: example(percent, 35),
    call_storage: example(percent, 2),
    has_warning: Schema.Boolean.annotate({ description: "True if any value exceeds 90", examples: [false] })
  }),
  plan: Schema.Struct({
    name: example(PlanName, "Pro"),
    period_start: instant("2026-01-01T00:00:00.000Z"),
    period_end: instant("2026-02-01T00:00:00.000Z")
  })
}).annotate({ identifier: "OrganizationUsage" }) satisfies Schema.Codec<OrgUsage, unknown>
