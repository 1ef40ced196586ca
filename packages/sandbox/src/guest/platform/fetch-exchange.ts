/** One request and its response, seen from the guest: the host calls behind them, and what aborts them. */
import type { HostCaller } from "../Bridge.ts"
import type { AbortSignal } from "./abort.ts"
import { decodeBytes, encodeBytes } from "./base64.ts"
import type { Source } from "./body.ts"
import { host } from "./host.ts"
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

/** The host's answer to `fetch.read`. */
interface Taken {
  readonly bytes: string
  readonly done: boolean
}

let lastId = 0

export class FetchExchange implements Source {
  readonly id = ++lastId
  readonly #call: HostCaller
  readonly #signal: AbortSignal
  /** Why nothing more comes, once that is so. */
  #stopped: { readonly reason: unknown } | null = null
  /** Rejects what is being waited for. */
  #reject: ((reason: unknown) => void) | null = null
  #isOver = false

  constructor(call: HostCaller, signal: AbortSignal) {
    this.#call = call
    this.#signal = signal
    signal.addEventListener("abort", this.#abort)
  }

  /** Sends the request; `payload` is that of the host call. */
  async start(payload: string): Promise<Fetched> {
    const head: Head = JSON.parse(await this.#ask("fetch.send", payload))
    return {
      status: head.status,
      statusText: head.status_text,
      url: head.url,
      redirected: head.redirected,
      headers: head.headers
    }
  }

  /** Sends bytes of the body, in as many calls as they need. False when nobody wants more of them. */
  async writeAll(bytes: Uint8Array, room: number, isLast: boolean): Promise<boolean> {
    let from = 0
    do {
      const chunk = bytes.subarray(from, from + room)
      from += room
      const done = isLast && from >= bytes.length
      const payload = `{"id":${this.id},"bytes":"${encodeBytes(chunk)}","done":${done}}`
      if ((await this.#call("fetch.write", payload)) !== "true") {
        return false
      }
    } while (from < bytes.length)
    return true
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#stopped !== null) {
      throw this.#stopped.reason
    }
    if (this.#isOver) {
      return null
    }
    // Half of it at least is base64.
    const max = Math.floor(host().callBytes / 2)
    const { bytes, done }: Taken = JSON.parse(await this.#ask("fetch.read", `{"id":${this.id},"max":${max}}`))
    if (done) {
      this.#end()
    }
    return bytes === "" ? (this.#isOver ? null : this.read()) : decodeBytes(bytes)
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
