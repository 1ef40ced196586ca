/** Limits concurrency per key. Excess effects are queued in order. */
import { Effect, Semaphore } from "effect"

interface CountedSemaphore {
  readonly semaphore: Semaphore.Semaphore
  /** Number of running and queued effects. */
  users: number
}

export class KeyedSemaphore {
  readonly #permits: number
  readonly #entries = new Map<string, CountedSemaphore>()

  constructor(permits: number) {
    this.#permits = permits
  }

  /** Runs the effect with a permit of the key, which is released after the effect's finalizers. */
  withPermit<A, E, R>(key: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const entry = this.#entries.get(key) ?? { semaphore: Semaphore.makeUnsafe(this.#permits), users: 0 }
      this.#entries.set(key, entry)
      entry.users++
      return Effect.ensuring(
        entry.semaphore.withPermit(effect),
        Effect.sync(() => {
          entry.users--
          if (entry.users === 0) this.#entries.delete(key)
        })
      )
    })
  }
}
