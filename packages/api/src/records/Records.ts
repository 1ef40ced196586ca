/** The records of the specification, made of core's classes: fields are picked, instants and JSON put on the wire. */
import {
  ApiKey,
  Build,
  Env,
  Event,
  EventHandler,
  LogEntry,
  Org,
  Project,
  Run,
  RunStats,
  ScheduleEntry
} from "@weft/core"
import { Schema, Struct } from "effect"
import { Instant, JsonValue } from "./Wire.ts"

export const ProjectRecord = Schema.Struct({
  ...Struct.pick(Project.fields, ["project_id", "env_id", "name", "active"]),
  created_at: Instant,
  updated_at: Instant
}).annotate({ identifier: "Project" })

const buildFields = {
  ...Struct.pick(Build.fields, ["build_id", "project_id", "hash", "size", "build_type", "deployed", "active"]),
  created_at: Instant,
  updated_at: Instant,
  ...Struct.pick(Build.fields, ["storage_path", "storage_backend"])
}

export const BuildRecord = Schema.Struct(buildFields).annotate({ identifier: "Build" })

/** As in the list across the environment. */
export const NamedBuildRecord = Schema.Struct({
  ...buildFields,
  ...Struct.pick(Build.fields, ["project_name"])
}).annotate({ identifier: "BuildWithProjectName" })

/** What an upload answers. */
export const UploadedBuildRecord = Schema.Struct({
  ...Struct.pick(Build.fields, ["build_id", "project_id", "hash", "size", "storage_path", "storage_backend"]),
  created_at: Instant
}).annotate({ identifier: "UploadedBuild" })

export const EventHandlerRecord = Schema.Struct({
  ...Struct.pick(EventHandler.fields, ["event_handler_id"]),
  ...Struct.pick(Build.fields, ["build_id"]),
  ...Struct.pick(EventHandler.fields, ["event_type"]),
  ...Struct.pick(EventHandler.fields, ["ns", "var"])
}).annotate({ identifier: "EventHandler" })

export const ScheduleRecord = Schema.Struct({
  ...Struct.pick(ScheduleEntry.fields, ["schedule_id"]),
  ...Struct.pick(Build.fields, ["build_id"]),
  ...Struct.pick(ScheduleEntry.fields, ["cron"]),
  ...Struct.pick(ScheduleEntry.fields, ["ns", "var"])
}).annotate({ identifier: "Schedule" })

export const EventRecord = Schema.Struct({
  ...Struct.pick(Event.fields, ["event_id", "env_id", "stream_id", "event_type"]),
  event_data: JsonValue,
  event_time: Instant,
  created_at: Instant
}).annotate({ identifier: "Event" })

export const RunRecord = Schema.Struct({
  ...Struct.pick(Run.fields, ["run_id", "env_id", "stream_id", "build_id", "run_type", "status"]),
  start_time: Instant,
  stop_time: Schema.NullOr(Instant),
  ...Struct.pick(Run.fields, ["origin_run_id", "event_id"]),
  result: Schema.NullOr(JsonValue),
  ...Struct.pick(Run.fields, ["project_id", "project_name"])
}).annotate({ identifier: "Run" })

export const RunStatsRecord = RunStats.annotate({ identifier: "RunStats" })

/** How many runs a request has cancelled. */
export const CancelledRunsRecord = Schema.Struct({ cancelled: Schema.Int }).annotate({ identifier: "CancelledRuns" })

/** Which function ran, which of its attempts it was, and what it used: null while it is running. */
export const RunUsageRecord = Schema.Struct(
  Struct.pick(Run.fields, ["ns", "var", "attempt", "cpu_ms", "wall_ms", "heap_bytes"])
).annotate({ identifier: "RunUsage" })

export const LogEntryRecord = Schema.Struct({
  ...Struct.pick(LogEntry.fields, ["seq"]),
  time: Instant,
  ...Struct.pick(LogEntry.fields, ["level", "message"]),
  data: Schema.NullOr(JsonValue)
}).annotate({ identifier: "LogEntry" })

export const EnvRecord = Schema.Struct(Struct.pick(Env.fields, ["env_id", "org_id", "name", "active"])).annotate({
  identifier: "Environment"
})

/** The credential's own environment; the slug is what addresses of webhooks and tools begin with. */
export const OwnEnvRecord = Schema.Struct({
  ...EnvRecord.fields,
  org_slug: Org.fields.slug.annotate({ description: "An extension: addresses of webhooks and tools begin with it" })
}).annotate({ identifier: "OwnEnvironment" })

export const OrgRecord = Schema.Struct({
  ...Struct.pick(Org.fields, ["org_id", "slug", "name", "plan", "members"]),
  created_at: Instant,
  updated_at: Instant
}).annotate({ identifier: "Organization" })

const apiKeyFields = {
  ...Struct.pick(ApiKey.fields, ["api_key_id", "name", "enabled", "permissions"]),
  created_at: Instant
}

export const ApiKeyRecord = Schema.Struct(apiKeyFields).annotate({ identifier: "ApiKey" })

/** The only answer that holds the token. */
export const CreatedApiKeyRecord = Schema.Struct({ ...apiKeyFields, token: Schema.String }).annotate({
  identifier: "CreatedApiKey"
})

export const StatusRecord = Schema.Struct({
  status: Schema.String,
  service: Schema.String,
  version: Schema.String,
  git_sha: Schema.String,
  start_time: Schema.String.annotate({ format: "date-time" })
}).annotate({ identifier: "Status" })

export const HealthRecord = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Health" })
