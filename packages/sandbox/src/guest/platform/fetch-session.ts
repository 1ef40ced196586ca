/** One request and its response in the guest: the host calls that implement them, and their cancellation. */
import type { HostCaller } from "../Bridge.ts"
import type { AbortSignal } from "./abort.ts"
import { freshId, HostSource, type ReadResult } from "./host-bytes.ts"
import type { Fetched } from "./response.ts"

/** Returns a `TypeError`: as in browsers, every failure of a request is one. */
export const fetchError = (reason: string): TypeError => new TypeError(`fetch failed: ${reason}`)

/** Result of the host call `fetch.send`. */
interface Head {
  readonly status: number
  readonly status_text: string
  readonly url: string
  readonly redirected: boolean
  readonly headers: Array<[string, string]>
}

/** Maximum size for which a buffer is allocated in advance. The host rejects larger bodies. */
const sizeMax = 32 * 1024 * 1024

export class FetchSession extends HostSource {
  readonly id = freshId()
  readonly #call: HostCaller
  readonly #signal: AbortSignal
  /** Reason of the failure, or null. */
  #failure: { readonly reason: unknown } | null = null
  /** Rejects the pending host call. */
  #reject: ((reason: unknown) => void) | null = null
  #isClosed = false
  #size: number | null = null

  constructor(call: HostCaller, signal: AbortSignal) {
    super()
    this.#call = call
    this.#signal = signal
    signal.addEventListener("abort", this.#abort)
  }

  /** Sends the request with the payload of the host call. */
  async start(payload: string): Promise<Fetched> {
    const head: Head = JSON.parse(await this.#request("fetch.send", payload))
    const length = head.headers.find(([name]) => name === "content-length")?.[1]
    this.#size = length !== undefined && /^\d{1,8}$/.test(length) && Number(length) <= sizeMax ? Number(length) : null
    return {
      status: head.status,
      statusText: head.status_text,
      url: head.url,
      redirected: head.redirected,
      headers: head.headers
    }
  }

  /** Sends bytes of the body. False if the host needs no more. */
  async write(base64: string, done: boolean): Promise<boolean> {
    return (await this.#call("fetch.write", `{"id":${this.id},"bytes":"${base64}","done":${done}}`)) === "true"
  }

  get size(): number | null {
    return this.#size
  }

  protected async take(max: number, text: boolean): Promise<string | null> {
    while (!this.#isClosed) {
      const payload = `{"id":${this.id},"max":${max},"text":${text}}`
      const { bytes, done }: ReadResult = JSON.parse(await this.#request("fetch.read", payload))
      if (done) {
        this.#end()
      }
      // Text may be empty while a character is incomplete.
      if (bytes !== "") {
        return bytes
      }
    }
    if (this.#failure !== null) {
      throw this.#failure.reason
    }
    return null
  }

  /** Cancels the response. */
  cancel(): void {
    if (!this.#isClosed) {
      this.#end()
      this.#call("fetch.cancel", `{"id":${this.id}}`).catch(() => undefined)
    }
  }

  /** Fails the session: the pending call and later reads reject with `reason`. */
  stop(reason: unknown): void {
    if (this.#isClosed) {
      return
    }
    this.#failure = { reason }
    this.cancel()
    this.#reject?.(reason)
  }

  readonly #abort = (): void => this.stop(this.#signal.reason)

  #end(): void {
    this.#isClosed = true
    this.#signal.removeEventListener("abort", this.#abort)
  }

  #request(op: string, payload: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      this.#call(op, payload).then(resolve, (error: unknown) => {
        this.#end()
        this.#failure ??= { reason: toFetchError(error) }
        reject(this.#failure.reason)
      })
    })
  }
}

/** Converts an error of the host to the one of browsers. Errors of the kernel's limits stay unchanged. */
const toFetchError = (error: unknown): unknown =>
  error instanceof Error && error.name === "TypeError" ? fetchError(error.message) : error
