/** A lock per name. */
import { Effect, Semaphore } from "effect"

export interface NameLocks {
  readonly holding: <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const makeNameLocks = (): NameLocks => {
  const locks = new Map<string, { readonly turn: Semaphore.Semaphore; users: number }>()
  return {
    holding: (name, effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const lock = locks.get(name) ?? { turn: Semaphore.makeUnsafe(1), users: 0 }
          locks.set(name, lock)
          lock.users++
          return lock
        }),
        ({ turn }) => turn.withPermit(effect),
        (lock) =>
          Effect.sync(() => {
            if (--lock.users === 0) locks.delete(name)
          })
      )
  }
}
