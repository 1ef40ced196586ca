/**
 * Turns of a node's subscribers to deal with what they were told.
 *
 * A thousand that were told the same take tens of milliseconds of the main thread. They take them a few at a time, with
 * everything else in between, and who is told more before its turn deals with all of it at once.
 */
import { Effect, Latch, type Scope } from "effect"

/** Turns one after the other, which are less than a millisecond of the main thread. */
const atOnce = 32

/** After its turns a node rests for so many milliseconds for each, about a third of what one takes. */
const restMsEach = 0.008

export class Turns {
  readonly #isAsked = Latch.makeUnsafe(false)
  #waiting: Array<() => void> = []
  #at = 0

  static readonly make: Effect.Effect<Turns, never, Scope.Scope> = Effect.suspend(() => {
    const turns = new Turns()
    return Effect.as(Effect.forkScoped(turns.#given), turns)
  })

  /** Calls back when it is its turn; they come in order. `act` must not throw. */
  wait(act: () => void): void {
    this.#waiting.push(act)
    this.#isAsked.openUnsafe()
  }

  /** Resolves when all have had their turn that wait now. */
  readonly round: Effect.Effect<void> = Effect.callback((resume) => this.wait(() => resume(Effect.void)))

  readonly #given: Effect.Effect<never> = Effect.suspend(() => {
    let restMs = 0
    const rest = Effect.suspend(() => {
      restMs += this.#give() * restMsEach
      if (restMs < 1) return Effect.yieldNow
      const now = restMs
      restMs = 0
      return Effect.sleep(now)
    })
    return Effect.forever(Effect.andThen(this.#isAsked.await, rest))
  })

  #give(): number {
    const end = Math.min(this.#at + atOnce, this.#waiting.length)
    const given = end - this.#at
    while (this.#at < end) this.#waiting[this.#at++]?.()
    if (this.#at === this.#waiting.length) {
      this.#waiting = []
      this.#at = 0
      this.#isAsked.closeUnsafe()
    }
    return given
  }
}
