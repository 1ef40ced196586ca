/**
 * What a build offers: its functions and the triggers that their `meta` declares (decisions 5.1).
 *
 * Made once, at deploy, from what the sandbox read; stored with the build.
 */
import { Effect, Schema } from "effect"
import { HandlerId, ScheduleId } from "../ids/Ids.ts"
import { noRetry, RetryPolicy } from "./Retry.ts"

const fn = { ns: Schema.String, var: Schema.String }

/** How many runs of a function may go on at once in its environment. */
export const Concurrency = Schema.Struct({
  limit: Schema.Int,
  /** A path into event_data: each value there has a limit of its own. Null: one for the function. */
  key: Schema.NullOr(Schema.String)
})
export type Concurrency = typeof Concurrency.Type

/** Manifests that were stored before a field came lack it. */
const orNull = <S extends Schema.Codec<unknown, unknown>>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

const conditions = {
  concurrency: orNull(Concurrency),
  /** A path into event_data: of events with the same value there within 24 hours only the first is handled. */
  idempotency: orNull(Schema.String)
}

/** On what terms a function runs in the background. */
const terms = { retry: RetryPolicy, timeout_ms: Schema.Int, ...conditions }

/** Somebody waits for the answer of a webhook or a tool. */
export const waitedTimeoutMs = 30_000
export const backgroundTimeoutMs = 300_000

/** Every function of a build, whatever its triggers: what a reference `ns/var` finds. */
export const FunctionEntry = Schema.Struct({
  ...fn,
  retry: RetryPolicy.pipe(Schema.withDecodingDefaultKey(Effect.succeed(noRetry))),
  timeout_ms: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(backgroundTimeoutMs))),
  ...conditions
})
export type FunctionEntry = typeof FunctionEntry.Type

export const EventHandler = Schema.Struct({
  event_handler_id: HandlerId,
  ...fn,
  /** Exact, or a prefix when it ends in `*`. */
  event_type: Schema.String,
  ...terms
})
export type EventHandler = typeof EventHandler.Type

export const ScheduleEntry = Schema.Struct({
  schedule_id: ScheduleId,
  ...fn,
  cron: Schema.String,
  timezone: Schema.String,
  ...terms
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

/** "METHOD /service/path": one of an environment. */
export const endpointName = ({ method, service, path }: Endpoint): string => `${method} /${service}${path}`

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
