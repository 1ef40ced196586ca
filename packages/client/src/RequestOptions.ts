/** What may be said of single requests. */

export interface RetryOptions {
  /** How often a request is sent at most, the first time included; 1 repeats nothing. */
  readonly attempts: number
  /** Milliseconds before the first repetition; each pause is twice as long as the one before, less a random part. */
  readonly baseMs: number
  /** Milliseconds of the longest pause. A server that asks for a longer one is not asked again. */
  readonly maxMs: number
}

export interface RequestOptions {
  /** Ends the request with its repetitions and pauses; it then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that each attempt may take. What the client says by default, and longer for bytes. */
  readonly timeoutMs?: number | undefined
  /** `false` repeats nothing. */
  readonly retry?: Partial<RetryOptions> | false | undefined
}

export interface KeyedOptions extends RequestOptions {
  /** Requests with the same key are one, for 24 hours. By default each call of a method has a key of its own. */
  readonly idempotencyKey?: string | undefined
}

export interface BytesOptions extends RequestOptions {
  /** Only these bytes, as `slice` counts them: from `start` on, `end` not included. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined
  /** An etag: when the bytes are still those, the answer has the status 304 and no body. */
  readonly ifNoneMatch?: string | undefined
}
