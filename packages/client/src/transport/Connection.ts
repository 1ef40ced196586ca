/** Sends requests to one server with one credential, with retries if they are safe. */
import { toWeftError, WeftError } from "../errors/WeftError.ts"
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"
import type { RequestOptions, RetryOptions } from "../RequestOptions.ts"
import { retryDelay, sleep } from "./Retry.ts"

/** A token, or a function that returns one, for tokens that expire. */
export type Token = string | (() => string | Promise<string>)

/** Bodies that can be sent repeatedly. */
export type Body = string | Blob | Uint8Array<ArrayBuffer> | FormData

export interface OutgoingRequest {
  readonly method: string
  /** Path and query, relative to the root of the API. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body | undefined
  /** True if the request is idempotent. */
  readonly isRepeatable: boolean
  readonly options: RequestOptions
}

export class Connection {
  readonly #baseUrl: string
  readonly #token: Token | undefined
  readonly #preview: string | undefined
  readonly #fetch: typeof fetch
  readonly retry: RetryOptions
  /** Default timeout of an attempt, in milliseconds. */
  readonly timeoutMs: number

  constructor(settings: {
    readonly baseUrl: string
    readonly token: Token | undefined
    readonly preview?: string | undefined
    readonly fetch: typeof fetch
    readonly retry: RetryOptions
    readonly timeoutMs: number
  }) {
    this.#baseUrl = settings.baseUrl
    this.#token = settings.token
    this.#preview = settings.preview
    this.#fetch = settings.fetch
    this.retry = settings.retry
    this.timeoutMs = settings.timeoutMs
  }

  resolveRetry({ retry = {} }: RequestOptions): RetryOptions {
    return { ...this.retry, ...(retry === false ? { attempts: 1 } : retry) }
  }

  /** Sends a request with retries, and returns the result of `read` for the first successful response. */
  async send<T>(request: OutgoingRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { isRepeatable, options } = request
    const retry = this.resolveRetry(options)
    for (let failures = 1; ; failures++) {
      try {
        return await this.#attempt(request, read)
      } catch (error) {
        const pause = retryDelay(error, failures, retry, isRepeatable)
        if (pause === null) throw error
        await sleep(pause, options.signal)
      }
    }
  }

  async #attempt<T>(request: OutgoingRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, path, body, options } = request
    const { signal, timeoutMs = this.timeoutMs } = options
    signal?.throwIfAborted()
    const headers = await this.#headers(request)
    const timeout = new AbortController()
    const timer = timeoutMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => timeout.abort(), timeoutMs)
    const combined = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal])
    const init = { method, headers, signal: combined, ...(body === undefined ? {} : { body }) }
    try {
      const response = await this.#fetch(`${this.#baseUrl}${path}`, init)
      if (!response.ok && response.status !== 304) throw await toWeftError(response)
      return await read(response)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof WeftError) throw error
      if (timeout.signal.aborted) throw new WeftNetworkError(`No response within ${timeoutMs} ms`)
      throw new WeftNetworkError("The connection to the server failed", error)
    } finally {
      clearTimeout(timer)
    }
  }

  async #headers({ headers = {}, body }: OutgoingRequest): Promise<Headers> {
    const all = new Headers(headers)
    if (typeof body === "string" && !all.has("content-type")) all.set("content-type", "application/json")
    if (this.#preview !== undefined) all.set("weft-preview", this.#preview)
    const token = typeof this.#token === "function" ? await this.#token() : this.#token
    if (token === undefined) return all
    // The platform's own error message would contain the token.
    if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError("The token contains invalid characters")
    all.set("authorization", `Bearer ${token}`)
    return all
  }
}
