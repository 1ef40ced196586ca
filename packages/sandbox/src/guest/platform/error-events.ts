/** `ErrorEvent` and `PromiseRejectionEvent`. */
import { brand, requireArguments } from "./define.ts"
import { Event, type EventInit } from "./events.ts"

export interface ErrorEventInit extends EventInit {
  readonly message?: string
  readonly filename?: string
  readonly lineno?: number
  readonly colno?: number
  readonly error?: unknown
}

const text = (value: unknown): string => (value === undefined ? "" : String(value))

export class ErrorEvent extends Event {
  readonly #init: Required<ErrorEventInit>

  constructor(type: string, init: ErrorEventInit = {}) {
    requireArguments(arguments, 1, "ErrorEvent")
    super(type, init)
    const { message, filename, lineno, colno, error } = init ?? {}
    this.#init = {
      bubbles: this.bubbles,
      cancelable: this.cancelable,
      composed: this.composed,
      message: text(message),
      filename: text(filename),
      lineno: Number(lineno ?? 0) >>> 0,
      colno: Number(colno ?? 0) >>> 0,
      error
    }
  }

  get message(): string {
    return this.#init.message
  }
  get filename(): string {
    return this.#init.filename
  }
  get lineno(): number {
    return this.#init.lineno
  }
  get colno(): number {
    return this.#init.colno
  }
  get error(): unknown {
    return this.#init.error
  }
}

export interface PromiseRejectionEventInit extends EventInit {
  readonly promise: Promise<unknown>
  readonly reason?: unknown
}

export class PromiseRejectionEvent extends Event {
  readonly #promise: Promise<unknown>
  readonly #reason: unknown

  constructor(type: string, init: PromiseRejectionEventInit) {
    requireArguments(arguments, 2, "PromiseRejectionEvent")
    super(type, init)
    if (init?.promise === undefined) {
      throw new TypeError("PromiseRejectionEvent constructor: the promise is missing.")
    }
    this.#promise = Promise.resolve(init.promise)
    this.#reason = init.reason
  }

  get promise(): Promise<unknown> {
    return this.#promise
  }
  get reason(): unknown {
    return this.#reason
  }
}

brand({ ErrorEvent, PromiseRejectionEvent })
