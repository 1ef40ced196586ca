/**
 * Manifest of a build: its functions and the triggers that their `meta` declares (decisions 5.1).
 *
 * The deployment creates it from the functions that the sandbox found, and stores it with the build.
 */
import { Effect, Schema } from "effect"
import { HandlerId, ScheduleId } from "../../foundation/Ids.ts"
import { CodeUses } from "./CodeUses.ts"
import { FlowControl } from "./FlowControl.ts"
import { Prompt, Resource, Tool } from "./McpEntries.ts"
import { OnFailure } from "./OnFailure.ts"
import { RecordingRules } from "./RecordingRules.ts"
import { noRetry, RetryPolicy } from "./RetryPolicy.ts"
import { synchronousOptions } from "./SynchronousOptions.ts"

const fn = { ns: Schema.String, var: Schema.String }

/** Maximum concurrent runs of a function in its environment. */
export const Concurrency = Schema.Struct({
  limit: Schema.Int,
  /** A path into `event_data` whose values each have a separate limit. Null for one limit per function. */
  key: Schema.NullOr(Schema.String),
  /** Functions of the project with the same name share the limit. Without it, the function has its own. */
  name: Schema.optionalKey(Schema.String)
})
export type Concurrency = typeof Concurrency.Type

/** Decodes a missing field as null, because older stored manifests lack it. */
const orNull = <S extends Schema.Codec<unknown, unknown>>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

const conditions = {
  concurrency: orNull(Concurrency),
  /** True if the function may use steps, sleeps and waits. */
  durable: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  /** A path into `event_data`. Of events with the same value within 24 hours, only the first is handled. */
  idempotency: orNull(Schema.String),
  flow: Schema.optionalKey(FlowControl),
  /** The function that is called after the last attempt failed. */
  on_failure: Schema.optionalKey(OnFailure),
  /** The recording of its runs; without it, none are recorded. */
  recording: Schema.optionalKey(RecordingRules)
}

/** Options of a function that runs in the background. */
const backgroundOptions = { retry: RetryPolicy, timeout_ms: Schema.Int, ...conditions }

/** Default timeout of webhooks, tools, resources and prompts, whose clients wait for the response. */
export const requestTimeoutMs = 30_000
/** Default timeout of functions that run in the background. */
export const backgroundTimeoutMs = 300_000
/** Default timeout of a durable run, from its start to its end: 30 days. */
export const durableTimeoutMs = 30 * 24 * 3_600_000

/** A function of a build, with or without triggers. References `ns/var` resolve to it. */
export const FunctionEntry = Schema.Struct({
  ...fn,
  /** Time for which runs of the function are kept, in milliseconds, if it is shorter than that of the plan. */
  retention_ms: Schema.optionalKey(Schema.Int),
  retry: RetryPolicy.pipe(Schema.withDecodingDefaultKey(Effect.succeed(noRetry))),
  timeout_ms: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(backgroundTimeoutMs))),
  ...conditions
})
export type FunctionEntry = typeof FunctionEntry.Type

export const EventHandler = Schema.Struct({
  event_handler_id: HandlerId,
  ...fn,
  /** Exact, or a prefix if it ends in `*`. */
  event_type: Schema.String,
  /** An expression that selects events. */
  if: Schema.optionalKey(Schema.String),
  ...backgroundOptions
})
export type EventHandler = typeof EventHandler.Type

export const ScheduleEntry = Schema.Struct({
  schedule_id: ScheduleId,
  ...fn,
  cron: Schema.String,
  timezone: Schema.String,
  ...backgroundOptions
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
  /** Lowercase names of headers to mask in logs, in addition to those that are always masked. */
  secret_headers: Schema.Array(Schema.String),
  ...synchronousOptions
})
export type Endpoint = typeof Endpoint.Type

/** Returns "METHOD /service/path", which is unique in an environment. */
export const endpointName = ({ method, service, path }: Endpoint): string => `${method} /${service}${path}`

export const Manifest = Schema.Struct({
  functions: Schema.Array(FunctionEntry),
  handlers: Schema.Array(EventHandler),
  schedules: Schema.Array(ScheduleEntry),
  endpoints: Schema.Array(Endpoint),
  tools: Schema.Array(Tool),
  resources: Schema.Array(Resource).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  prompts: Schema.Array(Prompt).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  /** Uses that were found in the code; absent in manifests of older releases. */
  uses: Schema.optionalKey(CodeUses)
})
export type Manifest = typeof Manifest.Type
