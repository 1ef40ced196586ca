/** `AbortController` and `AbortSignal`. */
import { brand, inspectCustom } from "./define.ts"
import { DOMException } from "./dom-exception.ts"
import { Event, EventTarget, HandlerSlot, trust } from "./events.ts"
import { startTimer } from "./timers.ts"

const internal: unique symbol = Symbol("AbortSignal")

let createSignal: () => AbortSignal
let abortSignal: (signal: AbortSignal, reason: unknown) => void

export class AbortSignal extends EventTarget {
  #aborted = false
  #reason: unknown = undefined
  /** Signals created by `any` that depend on this one. */
  readonly #dependents = new Set<AbortSignal>()
  /** Sources of a signal created by `any`; never such a signal itself. */
  #sources: ReadonlyArray<AbortSignal> | null = null
  readonly #onAbort = new HandlerSlot(this, "abort")

  static {
    createSignal = () => new AbortSignal(internal)
    abortSignal = (signal, reason) => {
      if (signal.#aborted) {
        return
      }
      signal.#settle(reason)
      const dependents = [...signal.#dependents].filter((dependent) => !dependent.#aborted)
      for (const dependent of dependents) {
        dependent.#settle(signal.#reason)
      }
      for (const each of [signal, ...dependents]) {
        each.dispatchEvent(trust(new Event("abort")))
      }
      signal.#dependents.clear()
    }
  }

  constructor(key: symbol | undefined = undefined) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
    super()
  }

  get aborted(): boolean {
    return this.#aborted
  }
  get reason(): unknown {
    return this.#reason
  }
  get onabort(): unknown {
    return this.#onAbort.get()
  }
  set onabort(handler: unknown) {
    this.#onAbort.set(handler)
  }

  throwIfAborted(): void {
    if (this.#aborted) {
      throw this.#reason
    }
  }

  static abort(reason: unknown = undefined): AbortSignal {
    const signal = createSignal()
    signal.#settle(reason)
    return signal
  }

  /** Aborts with a `TimeoutError` after `ms` milliseconds. */
  static timeout(ms: number): AbortSignal {
    const delay = Number(ms)
    if (!(delay >= 0 && delay <= Number.MAX_SAFE_INTEGER)) {
      throw new TypeError("AbortSignal.timeout: the delay must be a non-negative number of milliseconds.")
    }
    const signal = createSignal()
    startTimer(
      () => abortSignal(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")),
      Math.trunc(delay)
    )
    return signal
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const given = [...signals]
    if (!given.every((signal) => signal instanceof AbortSignal)) {
      throw new TypeError("AbortSignal.any: every element must be an AbortSignal.")
    }
    const result = createSignal()
    const aborted = given.find((signal) => signal.#aborted)
    if (aborted !== undefined) {
      result.#settle(aborted.#reason)
      return result
    }
    const sources = new Set(given.flatMap((signal) => signal.#sources ?? [signal]))
    result.#sources = [...sources]
    for (const source of sources) {
      source.#dependents.add(result)
    }
    return result
  }

  [inspectCustom](): string {
    return `AbortSignal { aborted: ${this.#aborted} }`
  }

  #settle(reason: unknown): void {
    this.#aborted = true
    this.#reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason
    // Nothing can abort this signal again, so its sources release it.
    for (const source of this.#sources ?? []) {
      source.#dependents.delete(this)
    }
    this.#sources = this.#sources === null ? null : []
  }
}

export class AbortController {
  readonly #signal = createSignal()

  get signal(): AbortSignal {
    return this.#signal
  }

  abort(reason: unknown = undefined): void {
    abortSignal(this.#signal, reason)
  }
}

brand({ AbortSignal, AbortController })
