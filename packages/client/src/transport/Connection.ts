/** Sends requests to one server with one credential, and again where that is safe. */
import { failureOf, WeftError } from "../errors/WeftError.ts"
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"
import type { RequestOptions, RetryOptions } from "../RequestOptions.ts"
import { pauseAfter, sleep } from "./Pause.ts"

/** A token, or what gives one when it is needed, for those that expire. */
export type Token = string | (() => string | Promise<string>)

/** What can be sent more than once. */
export type Body = string | Blob | Uint8Array<ArrayBuffer> | FormData

export interface Sending {
  readonly method: string
  /** With its query, from the root of the API on. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body | undefined
  /** Whether doing it twice is as good as once. */
  readonly isRepeatable: boolean
  readonly options: RequestOptions
}

export class Connection {
  readonly #baseUrl: string
  readonly #token: Token | undefined
  readonly #fetch: typeof fetch
  readonly retry: RetryOptions
  /** Milliseconds that an attempt may take by default. */
  readonly timeoutMs: number

  constructor(settings: {
    readonly baseUrl: string
    readonly token: Token | undefined
    readonly fetch: typeof fetch
    readonly retry: RetryOptions
    readonly timeoutMs: number
  }) {
    this.#baseUrl = settings.baseUrl
    this.#token = settings.token
    this.#fetch = settings.fetch
    this.retry = settings.retry
    this.timeoutMs = settings.timeoutMs
  }

  retryOf({ retry = {} }: RequestOptions): RetryOptions {
    return { ...this.retry, ...(retry === false ? { attempts: 1 } : retry) }
  }

  /** What `read` makes of the answer of the first attempt that succeeds. */
  async send<T>(sending: Sending, read: (response: Response) => Promise<T>): Promise<T> {
    const { isRepeatable, options } = sending
    const retry = this.retryOf(options)
    for (let failures = 1; ; failures++) {
      try {
        return await this.#attempt(sending, read)
      } catch (error) {
        const pause = pauseAfter(error, failures, retry, isRepeatable)
        if (pause === null) throw error
        await sleep(pause, options.signal)
      }
    }
  }

  async #attempt<T>(sending: Sending, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, path, body, options } = sending
    const { signal, timeoutMs = this.timeoutMs } = options
    signal?.throwIfAborted()
    const headers = await this.#headers(sending)
    const patience = new AbortController()
    const timer = timeoutMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => patience.abort(), timeoutMs)
    const either = signal === undefined ? patience.signal : AbortSignal.any([signal, patience.signal])
    const asked = { method, headers, signal: either, ...(body === undefined ? {} : { body }) }
    try {
      const response = await this.#fetch(`${this.#baseUrl}${path}`, asked)
      if (!response.ok && response.status !== 304) throw await failureOf(response)
      return await read(response)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof WeftError) throw error
      if (patience.signal.aborted) throw new WeftNetworkError(`There was no answer within ${timeoutMs} ms`)
      throw new WeftNetworkError("The connection to the server failed", error)
    } finally {
      clearTimeout(timer)
    }
  }

  async #headers({ headers = {}, body }: Sending): Promise<Headers> {
    const all = new Headers(headers)
    if (typeof body === "string" && !all.has("content-type")) all.set("content-type", "application/json")
    const token = typeof this.#token === "function" ? await this.#token() : this.#token
    if (token === undefined) return all
    // The platform's own message would have the token in it.
    if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError("The token has characters that no token has")
    all.set("authorization", `Bearer ${token}`)
    return all
  }
}
