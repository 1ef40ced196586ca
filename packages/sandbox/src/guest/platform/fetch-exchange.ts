/** One request and its response, seen from the guest: the host calls behind them, and what aborts them. */
import type { HostCaller } from "../Bridge.ts"
import type { AbortSignal } from "./abort.ts"
import { freshId, HostSource, type Taken } from "./host-bytes.ts"
import type { Fetched } from "./response.ts"

/** As browsers have it: whatever stops a request is a TypeError. */
export const failed = (reason: string): TypeError => new TypeError(`fetch failed: ${reason}`)

/** The host's answer to `fetch.send`. */
interface Head {
  readonly status: number
  readonly status_text: string
  readonly url: string
  readonly redirected: boolean
  readonly headers: Array<[string, string]>
}

/** Beyond it the host refuses the body, whatever its size is said to be. */
const sizeMax = 32 * 1024 * 1024

export class FetchExchange extends HostSource {
  readonly id = freshId()
  readonly #call: HostCaller
  readonly #signal: AbortSignal
  /** Why nothing more comes, once that is so. */
  #stopped: { readonly reason: unknown } | null = null
  /** Rejects what is being waited for. */
  #reject: ((reason: unknown) => void) | null = null
  #isOver = false
  #size: number | null = null

  constructor(call: HostCaller, signal: AbortSignal) {
    super()
    this.#call = call
    this.#signal = signal
    signal.addEventListener("abort", this.#abort)
  }

  /** Sends the request; `payload` is that of the host call. */
  async start(payload: string): Promise<Fetched> {
    const head: Head = JSON.parse(await this.#ask("fetch.send", payload))
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

  /** Sends bytes of the body. False when nobody wants more of them. */
  async write(base64: string, done: boolean): Promise<boolean> {
    return (await this.#call("fetch.write", `{"id":${this.id},"bytes":"${base64}","done":${done}}`)) === "true"
  }

  get size(): number | null {
    return this.#size
  }

  protected async take(max: number, text: boolean): Promise<string | null> {
    while (!this.#isOver) {
      const payload = `{"id":${this.id},"max":${max},"text":${text}}`
      const { bytes, done }: Taken = JSON.parse(await this.#ask("fetch.read", payload))
      if (done) {
        this.#end()
      }
      // Text may be empty where a character is not whole yet.
      if (bytes !== "") {
        return bytes
      }
    }
    if (this.#stopped !== null) {
      throw this.#stopped.reason
    }
    return null
  }

  /** Nobody wants the rest. */
  cancel(): void {
    if (!this.#isOver) {
      this.#end()
      this.#call("fetch.cancel", `{"id":${this.id}}`).catch(() => undefined)
    }
  }

  /** Gives up: who waits, and who reads from now on, is told the reason. */
  stop(reason: unknown): void {
    if (this.#isOver) {
      return
    }
    this.#stopped = { reason }
    this.cancel()
    this.#reject?.(reason)
  }

  readonly #abort = (): void => this.stop(this.#signal.reason)

  #end(): void {
    this.#isOver = true
    this.#signal.removeEventListener("abort", this.#abort)
  }

  #ask(op: string, payload: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      this.#call(op, payload).then(resolve, (error: unknown) => {
        this.#end()
        this.#stopped ??= { reason: told(error) }
        reject(this.#stopped.reason)
      })
    })
  }
}

/** What the host says as what browsers would; the kernel's own errors, of its limits, stay what they are. */
const told = (error: unknown): unknown =>
  error instanceof Error && error.name === "TypeError" ? failed(error.message) : error
