/** The property `meta` of a function: its triggers and its options. It is validated again at deploy. */
import type { Batch, FlowTerms } from "./FlowControl.ts"

/** `"500ms"`, `"1s"`, `"1m"`, `"1h"`, `"1d"`, an ISO 8601 duration such as `"PT90S"`, or milliseconds. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}` | `P${string}`

export interface Retry {
  /** Maximum attempts, 1 to 100; 1 by default, which means no retry. */
  readonly attempts?: number
  /** Delay before the second attempt; 1 second by default. */
  readonly delay?: Duration
  /** Factor between consecutive delays; 2 by default. */
  readonly backoff?: number
  /** Maximum delay; 1 hour by default. */
  readonly max_delay?: Duration
  /** True to wait a random time up to the delay; true by default. */
  readonly jitter?: boolean
}

export interface Concurrency<Path extends string = string> {
  /** Maximum concurrent runs of the function in its environment, 1 to 10,000. */
  readonly limit: number
  /** A path into `event_data`, such as `customer.id`: each value there has its own limit. */
  readonly key?: Path
  /** Functions of the project with the same name share the limit. 1 to 128 URL-safe characters. */
  readonly name?: string
}

/** Options of every function. */
export interface Terms {
  /** Time after which the run fails with `TimedOut`, at most 1 hour. By default 30 s for webhooks, tools, resources and prompts, otherwise 5 minutes. At most 365 days for a durable function, 30 days by default. */
  readonly timeout?: Duration
  /** Time for which runs of the function are kept, from their start: 1 hour to 10 years. The plan's retention is the maximum. */
  readonly retention?: Duration
  readonly description?: string
}

/**
 * Record of the runs of a webhook or a tool.
 *
 * - `before`: each run is stored before its response
 * - `after`: each run is stored within a second after its response
 * - `failures`: as `after`, but only failed runs
 * - `none`: no run is stored
 *
 * Runs that are not stored still count for the plan.
 */
export type RecordMode = "before" | "after" | "failures" | "none"

/** The recording of runs, to replay them with `weft replay`: see docs/replay.md. */
export interface Recording {
  /** Records the event or the request, and the result. */
  readonly inputs: true
  /** True to record host calls with their answers; false by default. Without them, runs that make host calls cannot be replayed. */
  readonly hostCalls?: boolean
  /** Share of the runs, more than 0 and at most 1; 1 by default. */
  readonly share?: number
  /** Names of fields whose values are not recorded, or ends of their paths: `password`, `card.number`. */
  readonly redact?: ReadonlyArray<string>
  /** Keys of context variables whose values are recorded. All others are replaced by a placeholder. */
  readonly context?: ReadonlyArray<string>
  /** Time after which a recording is deleted: 7 days by default, at most 30 days. */
  readonly retention?: Duration
}

/** Option of functions whose runs are recorded. */
export interface RecordingTerms {
  readonly record?: Recording
}

/** Options of a function that a client waits for. */
export interface RequestTerms extends Terms {
  /** `before` by default. A plan may demand a stronger mode. With a recording, the mode is `before`. */
  readonly record?: RecordMode | Recording
}

/** Options for failures of a function that runs in the background. */
export interface FailureTerms {
  readonly retry?: Retry
  /**
   * A function of the same build, such as `main/refund`, that is called once after the last attempt failed. It receives a
   * `FailureEvent`, and `svc`.
   */
  readonly onFailure?: string
}

/** Options of a function that runs in the background. */
export interface BackgroundTerms<Path extends string = string> extends Terms, FlowTerms, FailureTerms, RecordingTerms {
  readonly concurrency?: Concurrency<Path>
  /** A path into `event_data`: of events with the same value there, only the first within 24 hours is handled. */
  readonly idempotency?: Path
}

export interface Cron {
  /** Five fields, or six with seconds first. */
  readonly cron: string
  /** For example `Europe/Oslo`; UTC by default. */
  readonly timezone?: string
}

export type Method = "GET" | "PUT" | "PATCH" | "DELETE" | "POST"

/** Access to a webhook: `none` for everyone, `required` for a credential with `webhook: execute` on the service. */
export type Auth = "none" | "required"

export interface Endpoint {
  /** Name of letters, digits, hyphens, underscores and dots. */
  readonly service: string
  /** Path in the URL, for example `/hello`. */
  readonly path: string
  /** `POST` by default. */
  readonly method?: Method
  readonly name?: string
  readonly description?: string
  /** `none` by default. */
  readonly auth?: Auth
}

/** A JSON Schema of an object. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Hints for clients about the effects of a tool. */
export interface ToolAnnotations {
  /** True if the tool changes nothing. */
  readonly readOnlyHint?: boolean
  /** True if the tool may delete or overwrite. */
  readonly destructiveHint?: boolean
  /** True if a repeated call with the same arguments has no further effect. */
  readonly idempotentHint?: boolean
  /** True if the tool reaches other systems, such as the web. */
  readonly openWorldHint?: boolean
}

export interface ToolMeta {
  readonly service: string
  /** The name of the function by default. */
  readonly name?: string
  /** Name for people. */
  readonly title?: string
  /** Description of the tool for the model. */
  readonly description?: string
  /** Schema of the arguments; any object by default. */
  readonly input?: JsonSchema
  /** Schema of the result, which must be an object. Results that do not match it are errors. */
  readonly output?: JsonSchema
  readonly annotations?: ToolAnnotations
}

/** Possible values, at most 1,000, or the function `ns/var` of the build that receives the value so far and returns some. */
export type Completion = ReadonlyArray<string> | string

/** Data that MCP clients read by its URI. */
export interface ResourceMeta {
  readonly service: string
  /** Absolute URI, or a template with variables: `orders://{id}/invoice`. */
  readonly uri: string
  /** The name of the function by default. */
  readonly name?: string
  /** Name for people. */
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** Completions by variable of the template. */
  readonly complete?: Readonly<Record<string, Completion>>
}

export interface PromptArgument {
  readonly name: string
  /** Name for people. */
  readonly title?: string
  readonly description?: string
  /** False by default. */
  readonly required?: boolean
  readonly complete?: Completion
}

/** A prompt that people select in an MCP client. */
export interface PromptMeta {
  readonly service: string
  /** The name of the function by default. */
  readonly name?: string
  /** Name for people. */
  readonly title?: string
  readonly description?: string
  /** At most 32 arguments, whose values are strings. */
  readonly arguments?: ReadonlyArray<PromptArgument>
}

/** All options of `meta`. A function may have several triggers. */
export interface Meta extends Omit<BackgroundTerms, "record">, RequestTerms {
  /** An event type, or a prefix that ends in `*`. */
  readonly event?: string | ReadonlyArray<string>
  readonly schedule?: string | Cron | ReadonlyArray<string | Cron>
  readonly webhook?: Endpoint
  readonly tool?: ToolMeta
  readonly resource?: ResourceMeta
  readonly prompt?: PromptMeta
  /** One run handles several events: see `batchHandler`. */
  readonly batch?: Batch
  /** True for a function with steps, sleeps and waits: see `durable`. Not for webhooks, tools, resources and prompts. With `strict`, effects outside of steps are refused. */
  readonly durable?: boolean | { readonly strict: boolean }
  /** Headers to mask in logs, in addition to those that are always masked. */
  readonly "secret-headers"?: ReadonlyArray<string>
}

type Callable = (...args: ReadonlyArray<never>) => unknown

/** Returns the function with its `meta`, copied as JSON without undefined properties. */
export const withMeta = <F extends Callable, M extends Meta>(
  fn: F,
  meta: { readonly [Key in keyof M]: M[Key] | undefined }
): F & { readonly meta: M } => Object.assign(fn, { meta: JSON.parse(JSON.stringify(meta)) })
