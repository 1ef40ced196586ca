/** Options of single requests. */

export interface RetryOptions {
  /** Maximum attempts, including the first; 1 turns retries off. */
  readonly attempts: number
  /** Delay before the first retry, in milliseconds. Each delay is twice the previous one, minus a random part. */
  readonly baseMs: number
  /** Maximum delay in milliseconds. If the server requests a longer one, the request is not retried. */
  readonly maxMs: number
}

export interface RequestOptions {
  /** Aborts the request with its retries. The request then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Timeout of each attempt, in milliseconds. The client's by default, and longer for uploads. */
  readonly timeoutMs?: number | undefined
  /** `false` turns retries off. */
  readonly retry?: Partial<RetryOptions> | false | undefined
}

export interface KeyedOptions extends RequestOptions {
  /** Requests with the same key take effect once within 24 hours. By default each call has a new key. */
  readonly idempotencyKey?: string | undefined
}

export interface BytesOptions extends RequestOptions {
  /** Limits the response to these bytes, from `start` to `end`, exclusive as in `slice`. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined
  /** An ETag. If the content still has it, the response has status 304 and no body. */
  readonly ifNoneMatch?: string | undefined
}
