/** Counter of requests in flight, so that a shutdown can wait for them. */
import { Effect } from "effect"

export interface InFlightCount {
  readonly begin: () => void
  readonly end: () => void
  /** Completes when no request is in flight. */
  readonly idle: Effect.Effect<void>
}

export const makeInFlightCount = (): InFlightCount => {
  let count = 0
  const waiters = new Set<() => void>()
  return {
    begin: () => {
      count++
    },
    end: () => {
      count--
      if (count === 0) for (const done of waiters) done()
    },
    idle: Effect.callback((resume) => {
      const done = () => resume(Effect.void)
      if (count === 0) return done()
      waiters.add(done)
      return Effect.sync(() => waiters.delete(done))
    })
  }
}
