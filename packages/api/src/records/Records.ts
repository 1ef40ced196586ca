/** Records of the specification, derived from the classes of core, with the wire format of instants and JSON. */
import { Env, Org } from "@weft/core"
import {
  ApiKey,
  Build,
  Event,
  EventHandler,
  LogEntry,
  Project,
  parseEventIds,
  parseWaiting,
  Run,
  RunActivity,
  RunStats,
  ScheduleEntry
} from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { example, examplePermissions } from "../openapi/FieldExample.ts"
import { Instant, instant, jsonValue } from "./Wire.ts"
import { durableFields } from "./WorkflowRecords.ts"

export const ProjectRecord = Schema.Struct({
  ...Struct.pick(Project.fields, ["project_id", "env_id", "name", "active"]),
  name: example(Project.fields.name, "orders"),
  created_at: Instant,
  updated_at: Instant
}).annotate({ identifier: "Project" })

/** Fields of a build with their examples. */
const described = {
  ...Build.fields,
  hash: example(Build.fields.hash, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
  size: example(Build.fields.size, 48_213),
  storage_path: example(Build.fields.storage_path, "builds/01970d3d-0c30-7d84-a3f7-2b9e4d6c8105.zip"),
  storage_backend: example(Build.fields.storage_backend, "filesystem"),
  project_name: example(Build.fields.project_name, "orders")
}

const buildFields = {
  ...Struct.pick(described, ["build_id", "project_id", "hash", "size", "build_type", "deployed", "active"]),
  created_at: Instant,
  updated_at: Instant,
  ...Struct.pick(described, ["storage_path", "storage_backend"])
}

export const BuildRecord = Schema.Struct(buildFields).annotate({ identifier: "Build" })

/** A build in the list of all projects. */
export const NamedBuildRecord = Schema.Struct({
  ...buildFields,
  ...Struct.pick(described, ["project_name"])
}).annotate({ identifier: "BuildWithProjectName" })

/** Response to an upload. */
export const UploadedBuildRecord = Schema.Struct({
  ...Struct.pick(described, ["build_id", "project_id", "hash", "size", "storage_path", "storage_backend"]),
  created_at: Instant
}).annotate({ identifier: "UploadedBuild" })

export const EventHandlerRecord = Schema.Struct({
  ...Struct.pick(EventHandler.fields, ["event_handler_id"]),
  ...Struct.pick(Build.fields, ["build_id"]),
  event_type: example(EventHandler.fields.event_type, "order:created"),
  ns: example(EventHandler.fields.ns, "main"),
  var: example(EventHandler.fields.var, "onOrder")
}).annotate({ identifier: "EventHandler" })

export const ScheduleRecord = Schema.Struct({
  ...Struct.pick(ScheduleEntry.fields, ["schedule_id"]),
  ...Struct.pick(Build.fields, ["build_id"]),
  cron: example(ScheduleEntry.fields.cron, "0 3 * * *"),
  ns: example(ScheduleEntry.fields.ns, "main"),
  var: example(ScheduleEntry.fields.var, "onOrder")
}).annotate({ identifier: "Schedule" })

export const EventRecord = Schema.Struct({
  ...Struct.pick(Event.fields, ["event_id", "env_id", "stream_id"]),
  event_type: example(Event.fields.event_type, "order:created"),
  event_data: jsonValue({ order: 1042, total: 21 }),
  event_time: Instant,
  created_at: Instant
}).annotate({ identifier: "Event" })

/** Function, attempt and resource usage of a run. The usage is null while it is running. */
export const RunUsageRecord = Schema.Struct({
  ns: example(Run.fields.ns, "main"),
  var: example(Run.fields.var, "onOrder"),
  attempt: Run.fields.attempt,
  cpu_ms: example(Run.fields.cpu_ms, 3.2),
  wall_ms: example(Run.fields.wall_ms, 41.7),
  heap_bytes: example(Run.fields.heap_bytes, 4_194_304)
}).annotate({ identifier: "RunUsage" })

export const RunRecord = Schema.Struct({
  ...Struct.pick(Run.fields, ["run_id", "env_id", "stream_id", "build_id"]),
  run_type: example(Run.fields.run_type, "event"),
  status: example(Run.fields.status, "succeeded"),
  start_time: Instant,
  stop_time: Schema.NullOr(instant("2026-01-31T12:00:00.042Z")),
  origin_run_id: example(Run.fields.origin_run_id, null),
  event_id: Run.fields.event_id,
  event_ids: Schema.optionalKey(
    Schema.Array(Event.fields.event_id).annotate({
      description:
        "Extension: present for runs of batches only. The ids of all events in their order, the first as `event_id`"
    })
  ),
  result: Schema.NullOr(jsonValue({ doubled: 42 })),
  project_id: Run.fields.project_id,
  project_name: example(Run.fields.project_name, "orders"),
  preview: Schema.optionalKey(
    Schema.String.annotate({
      description: "Extension: name of the preview that the run belongs to; absent for all other runs",
      examples: ["pr-42"]
    })
  ),
  ...durableFields,
  usage: Schema.optionalKey(RunUsageRecord)
}).annotate({ identifier: "Run" })

/** Returns the record of a run. */
export const toRunRecord = ({ event_ids, ...run }: Run): typeof RunRecord.Type =>
  event_ids === null ? withDurable(run) : { ...withDurable(run), event_ids: parseEventIds(event_ids) }

const withDurable = ({ activations, waiting, steps, ...run }: Omit<Run, "event_ids">): typeof RunRecord.Type =>
  activations === null
    ? run
    : {
        ...run,
        ...{ durable: true, activations, steps: steps ?? 0 },
        waiting: waiting === null ? null : parseWaiting(waiting)
      }

export const RunStatsRecord = Schema.Struct({
  ...RunStats.fields,
  total_runs: example(RunStats.fields.total_runs, 5),
  succeeded: example(RunStats.fields.succeeded, 3),
  cancelled: example(RunStats.fields.cancelled, 0)
}).annotate({ identifier: "RunStats" })

const outcomes = { succeeded: example(Schema.Int, 41), failed: Schema.Int, cancelled: Schema.Int }

export const RunActivityRecord = Schema.Struct({
  since: Instant,
  complete: example(Schema.Boolean, true).annotate({
    description: "False if only the newest 5,000 runs were counted, since a later time than requested"
  }),
  minutes: Schema.Array(Schema.Struct({ time: Instant, ...outcomes })).annotate({
    description: "Ended runs of each minute with one, by outcome"
  }),
  p50_ms: example(RunActivity.fields.p50_ms, 38),
  p95_ms: example(RunActivity.fields.p95_ms, 120),
  failures: RunActivity.fields.failures.annotate({
    description: "Functions with failed runs, the most failures first, each with its newest failed run; at most 20"
  })
}).annotate({ identifier: "RunActivity" })

/** Number of runs that a request has cancelled. */
export const CancelledRunsRecord = Schema.Struct({ cancelled: example(Schema.Int, 0) }).annotate({
  identifier: "CancelledRuns"
})

/** Number of pending deliveries that a request has cancelled. */
export const CancelledDeliveriesRecord = Schema.Struct({
  cancelled: Schema.Int,
  matched: Schema.optionalKey(
    Schema.Int.annotate({ description: "Extension: for a dry run, number of deliveries that the request would cancel" })
  )
})

export const LogEntryRecord = Schema.Struct({
  seq: example(LogEntry.fields.seq, 0),
  time: Instant,
  level: example(LogEntry.fields.level, "info"),
  message: example(LogEntry.fields.message, "doubled the total"),
  data: Schema.NullOr(jsonValue({ total: 42 }))
}).annotate({ identifier: "LogEntry" })

export const EnvRecord = Schema.Struct({
  ...Struct.pick(Env.fields, ["env_id", "org_id", "name", "active"]),
  name: example(Env.fields.name, "production")
}).annotate({ identifier: "Environment" })

/** The environment of the credential, with the slug of its organization for the URLs of webhooks and tools. */
export const OwnEnvRecord = Schema.Struct({
  ...EnvRecord.fields,
  org_slug: Org.fields.slug.annotate({
    description: "Extension: the first part of the URLs of webhooks and tools",
    examples: ["acme"]
  })
}).annotate({ identifier: "OwnEnvironment" })

export const OrgRecord = Schema.Struct({
  org_id: Org.fields.org_id,
  slug: example(Org.fields.slug, "acme"),
  name: example(Org.fields.name, "Acme"),
  plan: example(Org.fields.plan, "Pro"),
  members: example(Org.fields.members, 3),
  created_at: Instant,
  updated_at: Instant
}).annotate({ identifier: "Organization" })

const apiKeyFields = {
  api_key_id: ApiKey.fields.api_key_id,
  name: example(ApiKey.fields.name, "publisher"),
  enabled: ApiKey.fields.enabled,
  permissions: example(ApiKey.fields.permissions, ApiKey.fields.permissions.make(examplePermissions)),
  created_at: Instant
}

export const ApiKeyRecord = Schema.Struct(apiKeyFields).annotate({ identifier: "ApiKey" })

/** The only response with the token. */
export const CreatedApiKeyRecord = Schema.Struct({
  ...apiKeyFields,
  token: example(Schema.String, "svc_01970d3c-6a20-78bf-a48c-b3d1cf705c10_<secret>")
}).annotate({ identifier: "CreatedApiKey" })

export const StatusRecord = Schema.Struct({
  status: example(Schema.String, "ok"),
  service: example(Schema.String, "weft"),
  version: example(Schema.String, "0.1.0"),
  git_sha: example(Schema.String, "4f2c1a9"),
  start_time: Schema.String.annotate({ format: "date-time" })
}).annotate({ identifier: "Status" })

export const HealthRecord = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Health" })
