/** The property `meta` of a function: what sets it off, and on what terms it runs. Checked again at deploy. */

/** `"500ms"`, `"1s"`, `"1m"`, `"1h"`, `"1d"`, an ISO 8601 duration such as `"PT90S"`, or milliseconds. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}` | `P${string}`

export interface Retry {
  /** All tries together: 1 (the default: none is repeated) to 100. */
  readonly attempts?: number
  /** Before the second try; 1 second by default. */
  readonly delay?: Duration
  /** How much longer each next delay is; 2 by default. */
  readonly backoff?: number
  /** An hour by default. */
  readonly max_delay?: Duration
  /** Whether to wait a random time up to the delay; true by default. */
  readonly jitter?: boolean
}

export interface Concurrency<Path extends string = string> {
  /** How many runs of the function may go on at once in its environment: 1 to 10,000. */
  readonly limit: number
  /** A path into `event_data`, such as `customer.id`: each value there has a limit of its own. */
  readonly key?: Path
}

/** The terms that every function may have. */
export interface Terms {
  /** When the run fails with `TimedOut`: by default after 30 s for webhooks and tools, else after 5 minutes; at most an hour. */
  readonly timeout?: Duration
  readonly description?: string
}

/** The terms of a function that runs in the background. */
export interface BackgroundTerms<Path extends string = string> extends Terms {
  readonly retry?: Retry
  readonly concurrency?: Concurrency<Path>
  /** A path into `event_data`: of the events with the same value there, only the first within 24 hours is handled. */
  readonly idempotency?: Path
}

export interface Cron {
  /** Five fields, or six with seconds first. */
  readonly cron: string
  /** Such as `Europe/Oslo`; UTC by default. */
  readonly timezone?: string
}

export type Method = "GET" | "PUT" | "PATCH" | "DELETE" | "POST"

/** Who may call: anyone, or who has a credential with `webhook: execute` on the service. */
export type Auth = "none" | "required"

export interface Endpoint {
  /** Letters, digits, hyphen, underscore and dot. */
  readonly service: string
  /** As it stands in the URL, such as `/hello`. */
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

export interface ToolMeta {
  readonly service: string
  /** The function's own name by default. */
  readonly name?: string
  /** For the model: what the tool does. */
  readonly description?: string
  /** Of the arguments; any object by default. */
  readonly input?: JsonSchema
}

/** All that `meta` may say. One function may have several triggers. */
export interface Meta extends BackgroundTerms {
  /** Exact, or a prefix when it ends in `*`. */
  readonly event?: string | ReadonlyArray<string>
  readonly schedule?: string | Cron | ReadonlyArray<string | Cron>
  readonly webhook?: Endpoint
  readonly tool?: ToolMeta
  /** Headers to mask in logs, beyond those that always are. */
  readonly "secret-headers"?: ReadonlyArray<string>
}

type Callable = (...args: ReadonlyArray<never>) => unknown

/** The function with its `meta`, copied as JSON: what is undefined there is left out. */
export const withMeta = <F extends Callable, M extends Meta>(
  fn: F,
  meta: { readonly [Key in keyof M]: M[Key] | undefined }
): F & { readonly meta: M } => Object.assign(fn, { meta: JSON.parse(JSON.stringify(meta)) })
