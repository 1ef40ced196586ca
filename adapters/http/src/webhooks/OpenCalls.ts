/** The calls of webhooks that are under way without a fiber, so that closing can end them. */
import { Roster, type WebhookAnswer } from "@weft/core"
import { Effect, type Exit } from "effect"

/** What a call may come to. */
export type Answered = Exit.Exit<WebhookAnswer, unknown>

export type Done = (exit: Answered) => void

export class OpenCalls {
  readonly #cancels = new Roster<() => void, () => void>()
  #whenIdle: (() => void) | undefined

  /** `start` gives how to cancel what it begins, and so does this; null when that is over already. */
  begin(start: (done: Done) => () => void, done: Done): (() => void) | null {
    let cancel: (() => void) | undefined
    let isOver = false
    cancel = start((exit) => {
      isOver = true
      if (cancel !== undefined) this.#cancels.delete(cancel)
      done(exit)
      if (this.#cancels.size === 0) this.#whenIdle?.()
    })
    if (isOver) return null
    this.#cancels.set(cancel, cancel)
    return cancel
  }

  /** Cancels all of them and waits until they are over. */
  readonly end: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#cancels.size === 0) return resume(Effect.void)
    this.#whenIdle = () => resume(Effect.void)
    for (const cancel of this.#cancels.values()) cancel()
  })
}
