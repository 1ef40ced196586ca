/** What the runtime hands to a function, as far as this project uses it. */

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

export interface Event {
  readonly event_id: string
  readonly stream_id: string
  readonly event_type: string
  readonly event_data: unknown
  /** ISO 8601, UTC. */
  readonly event_time: string
}

export interface WebhookRequest {
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
  readonly "body-raw": string
  readonly ip: string
}

export interface WebhookResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Json
}

export interface Svc {
  readonly run: {
    readonly run_id: string
    /** From 1. */
    readonly attempt: number
  }
  /** The secrets of the project. */
  readonly context: {
    /** Null when there is none of that key. */
    readonly get: (key: string) => Promise<string | null>
  }
  readonly events: {
    readonly publish: (event: {
      readonly type: string
      readonly data: unknown
    }) => Promise<{ readonly event_id: string }>
  }
  readonly log: Readonly<Record<"debug" | "info" | "warn" | "error", (message: string, data?: unknown) => void>>
}

/** A property `meta` makes a function a trigger. */
export interface Meta {
  /** Exact, or a prefix when it ends in `*`. */
  readonly event?: string | ReadonlyArray<string>
  readonly retry?: {
    /** All tries together. */
    readonly attempts: number
    readonly delay?: string
    readonly backoff?: number
    readonly max_delay?: string
    readonly jitter?: boolean
  }
  readonly webhook?: {
    readonly service: string
    readonly path: string
    readonly method?: "GET" | "PUT" | "PATCH" | "DELETE" | "POST"
    readonly auth?: "none" | "required"
  }
  readonly "secret-headers"?: ReadonlyArray<string>
  readonly description?: string
}
