/** Wire format of plans, nodes and checks, for the operator of a server. */
import { CheckStatus, PlanName } from "@weft/core"
import { NodeSummary } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { instant } from "./Wire.ts"

const limit = Schema.Int.annotate({ description: "-1 for unlimited" })

export const PlanRecord = Schema.Struct({
  name: example(PlanName, "Pro"),
  limits: Schema.Struct({
    requests_per_second: example(limit, 100),
    host_calls_per_second: example(limit, 5_000),
    tcp_sockets_per_run: example(Schema.Int, 0),
    max_file_bytes: example(limit, 5_368_709_120),
    runs_per_month: example(limit, 1_000_000),
    storage_bytes: example(limit, 107_374_182_400),
    team_members: example(limit, 20),
    call_retention_days: example(limit, 30),
    call_storage_bytes: example(limit, 53_687_091_200),
    domains: example(limit, 10),
    max_chain_depth: example(limit, 100),
    max_steps_per_run: example(limit, 10_000),
    max_step_result_bytes: example(limit, 262_144),
    max_suspended_runs: example(limit, 100_000),
    max_pending_deliveries: example(limit, 250_000),
    max_schedules: example(limit, 25_000),
    max_eval_source_bytes: example(Schema.Int, 262_144),
    max_repl_sessions: example(limit, 10),
    max_alert_rules: example(limit, 100),
    max_previews: example(limit, 20)
  })
}).annotate({ identifier: "Plan" })

export const NodeRecord = Schema.Struct({
  version: example(Schema.String, "0.1.0"),
  git_sha: example(Schema.String, "4f2c1a9"),
  start_time: instant("2026-01-01T00:00:00.000Z"),
  metrics: Schema.Array(
    Schema.Struct({
      name: example(Schema.String, "weft_deliveries_running"),
      type: example(Schema.Literals(["counter", "gauge"]), "gauge"),
      help: example(Schema.String, "Deliveries that this node has claimed"),
      labels: Schema.Record(Schema.String, Schema.String),
      value: example(Schema.Finite, 12)
    })
  ).annotate({ description: "The metrics of `GET /metrics`, without histograms" })
}).annotate({ identifier: "NodeStatus" })

export const NodeSummaryRecord = Schema.Struct({
  ...Struct.pick(NodeSummary.fields, ["node_id"]),
  version: example(NodeSummary.fields.version, "0.1.0"),
  git_sha: example(NodeSummary.fields.git_sha, "4f2c1a9"),
  start_time: instant("2026-01-01T00:00:00.000Z"),
  deliveries_running: example(Schema.Int, 12).annotate({
    description: "Slots of claimed deliveries; one of a large event takes several"
  }),
  deliveries_max: example(Schema.Int, 4_096)
}).annotate({ identifier: "NodeSummary" })

export const DiagnosisRecord = Schema.Struct({
  version: example(Schema.String, "0.1.0"),
  node_version: example(Schema.String, "24.21.0"),
  time: instant("2026-01-31T12:00:00.000Z"),
  checks: Schema.Array(
    Schema.Struct({
      name: example(Schema.String, "blobs"),
      status: example(CheckStatus, "ok"),
      seen: example(Schema.String, "filesystem: wrote, read and removed a blob within 4 ms"),
      remedy: example(Schema.NullOr(Schema.String), null)
    }).annotate({ identifier: "Check" })
  )
}).annotate({ identifier: "Diagnosis" })
