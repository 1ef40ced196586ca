/** The webhook calls in flight that have no fiber, so that a shutdown can cancel them. */
import { InFlightMap } from "@weft/core/adapter"
import type { WebhookAnswer } from "@weft/core/internal"
import { Effect, type Exit } from "effect"

/** The result of a call. */
export type CallExit = Exit.Exit<WebhookAnswer, unknown>

export type OnExit = (exit: CallExit) => void

export class InFlightCalls {
  readonly #cancels = new InFlightMap<() => void, () => void>()
  #whenIdle: (() => void) | undefined

  /** Starts a call. `start` returns its cancel function, and so does this method; null if the call is already done. */
  begin(start: (done: OnExit) => () => void, done: OnExit): (() => void) | null {
    let cancel: (() => void) | undefined
    let isDone = false
    cancel = start((exit) => {
      isDone = true
      if (cancel !== undefined) this.#cancels.delete(cancel)
      done(exit)
      if (this.#cancels.size === 0) this.#whenIdle?.()
    })
    if (isDone) return null
    this.#cancels.set(cancel, cancel)
    return cancel
  }

  /** Cancels all calls and waits until they are done. */
  readonly end: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#cancels.size === 0) return resume(Effect.void)
    this.#whenIdle = () => resume(Effect.void)
    for (const cancel of this.#cancels.values()) cancel()
  })
}
