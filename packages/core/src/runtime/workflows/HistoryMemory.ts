/**
 * Memory for the histories of active runs. A history may have 8 MiB, and an environment a thousand active runs.
 *
 * Each environment loads a few histories at the same time, and keeps them in a budget of its own. So large histories delay
 * runs of their own environment only.
 */
import { Effect, Semaphore } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import type { History } from "../runs/Workflow.ts"
import { measureHistory } from "./HistorySize.ts"

/** Maximum histories that an environment loads at the same time. */
const loadsMax = 4

/** Characters of a permit. Smaller histories need none. */
const unitLength = 64 * 1024

/** Permits of an environment: 64 Mi characters. */
const unitsMax = 1024

interface EnvMemory {
  readonly loads: Semaphore.Semaphore
  readonly units: Semaphore.Semaphore
  /** Number of runs that use it or wait for it. */
  users: number
}

export class HistoryMemory {
  readonly #envs = new Map<EnvId, EnvMemory>()

  /** Loads a history, and runs `use` while the history is in memory. Waits while the environment uses its budget. */
  use<A, B, E, F, R, S>(
    envId: EnvId,
    load: Effect.Effect<A, E, R>,
    toHistory: (loaded: A) => History,
    use: (loaded: A) => Effect.Effect<B, F, S>
  ): Effect.Effect<B, E | F, R | S> {
    return Effect.suspend(() => {
      const env = this.#enter(envId)
      const taken = { units: 0 }
      const reserve = Effect.tap(load, (loaded) => {
        const units = Math.min(unitsMax, Math.floor(measureHistory(toHistory(loaded)) / unitLength))
        if (units === 0) return Effect.void
        return Effect.map(env.units.take(units), () => {
          taken.units = units
        })
      })
      const release = Effect.suspend(() => {
        this.#leave(envId, env)
        return taken.units === 0 ? Effect.void : env.units.release(taken.units)
      })
      return Effect.ensuring(Effect.flatMap(env.loads.withPermit(reserve), use), release)
    })
  }

  #enter(envId: EnvId): EnvMemory {
    const env = this.#envs.get(envId) ?? {
      loads: Semaphore.makeUnsafe(loadsMax),
      units: Semaphore.makeUnsafe(unitsMax),
      users: 0
    }
    this.#envs.set(envId, env)
    env.users++
    return env
  }

  #leave(envId: EnvId, env: EnvMemory): void {
    env.users--
    if (env.users === 0) this.#envs.delete(envId)
  }
}
