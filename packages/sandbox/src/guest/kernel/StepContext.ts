/** The argument of the body of a step. Its signal is created when it is first read, because few bodies use it. */
import { type AbortControllerLike, makeAbortController } from "./abort.ts"

export class StepContext {
  /** Number of the attempt, from 1. */
  readonly attempt: number
  readonly idempotencyKey: string
  #controller: AbortControllerLike | undefined
  #reason: Error | undefined

  constructor(attempt: number, idempotencyKey: string) {
    this.attempt = attempt
    this.idempotencyKey = idempotencyKey
  }

  /** Aborts when the attempt has reached its timeout, or when the run is cancelled. */
  get signal(): unknown {
    if (this.#controller === undefined) {
      this.#controller = makeAbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Aborts the signal of an attempt. A function and no method, so that bodies cannot call it. */
  static readonly abort = (context: StepContext, reason: Error): void => {
    context.#reason = reason
    context.#controller?.abort(reason)
  }
}
