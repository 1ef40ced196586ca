/** How many go on at once, by a key: who finds no room waits, and the first to come is the first to go on. */
import { Effect, Semaphore } from "effect"

interface Lane {
  readonly semaphore: Semaphore.Semaphore
  /** Those in it and those that wait. */
  users: number
}

export class Turns {
  readonly #atOnce: number
  readonly #lanes = new Map<string, Lane>()

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /** Runs the effect in the key's turn. The turn is over when the effect has ended, its finalizers included. */
  take<A, E, R>(key: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const lane = this.#lanes.get(key) ?? { semaphore: Semaphore.makeUnsafe(this.#atOnce), users: 0 }
      this.#lanes.set(key, lane)
      lane.users++
      return Effect.ensuring(
        lane.semaphore.withPermit(effect),
        Effect.sync(() => {
          lane.users--
          if (lane.users === 0) this.#lanes.delete(key)
        })
      )
    })
  }
}
