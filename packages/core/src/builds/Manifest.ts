/**
 * What a build offers: its functions and the triggers that their `meta` declares (decisions 5.1).
 *
 * Made once, at deploy, from what the sandbox read; stored with the build.
 */
import { Schema } from "effect"
import { HandlerId, ScheduleId } from "../ids/Ids.ts"
import { RetryPolicy } from "./Retry.ts"

const fn = { ns: Schema.String, var: Schema.String }

export const FunctionEntry = Schema.Struct({ ...fn })

export const EventHandler = Schema.Struct({
  event_handler_id: HandlerId,
  ...fn,
  /** Exact, or a prefix when it ends in `*`. */
  event_type: Schema.String,
  retry: RetryPolicy,
  timeout_ms: Schema.Int
})
export type EventHandler = typeof EventHandler.Type

export const ScheduleEntry = Schema.Struct({
  schedule_id: ScheduleId,
  ...fn,
  cron: Schema.String,
  timezone: Schema.String,
  retry: RetryPolicy,
  timeout_ms: Schema.Int
})
export type ScheduleEntry = typeof ScheduleEntry.Type

export const Method = Schema.Literals(["GET", "PUT", "PATCH", "DELETE", "POST"])
export type Method = typeof Method.Type

export const Endpoint = Schema.Struct({
  ...fn,
  service: Schema.String,
  /** Starts with `/`. */
  path: Schema.String,
  method: Method,
  name: Schema.String,
  description: Schema.String,
  auth: Schema.Literals(["none", "required"]),
  /** Lowercase names of headers to mask in logs, beyond those always masked. */
  secret_headers: Schema.Array(Schema.String),
  timeout_ms: Schema.Int
})
export type Endpoint = typeof Endpoint.Type

export const Tool = Schema.Struct({
  ...fn,
  service: Schema.String,
  name: Schema.String,
  description: Schema.String,
  /** JSON Schema of the arguments. */
  input: Schema.Json,
  timeout_ms: Schema.Int
})
export type Tool = typeof Tool.Type

export const Manifest = Schema.Struct({
  functions: Schema.Array(FunctionEntry),
  handlers: Schema.Array(EventHandler),
  schedules: Schema.Array(ScheduleEntry),
  endpoints: Schema.Array(Endpoint),
  tools: Schema.Array(Tool)
})
export type Manifest = typeof Manifest.Type
