/** How many requests are being answered, so that closing can wait for them. */
import { Effect } from "effect"

export interface InFlight {
  readonly enter: () => void
  readonly leave: () => void
  /** Done as soon as there is none. */
  readonly idle: Effect.Effect<void>
}

export const makeInFlight = (): InFlight => {
  let count = 0
  const waiting = new Set<() => void>()
  return {
    enter: () => {
      count++
    },
    leave: () => {
      count--
      if (count === 0) for (const done of waiting) done()
    },
    idle: Effect.callback((resume) => {
      const done = () => resume(Effect.void)
      if (count === 0) return done()
      waiting.add(done)
      return Effect.sync(() => waiting.delete(done))
    })
  }
}
