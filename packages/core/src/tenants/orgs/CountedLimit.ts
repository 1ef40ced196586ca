/**
 * A limit of the records that an environment may have at the same time.
 *
 * A node counts in the store, and then admits half of the difference to the limit before it counts again. So most admissions
 * cost a subtraction. Nodes count for themselves, and together they may exceed the limit by what they admit between two
 * counts.
 */
import { Clock, Effect, Semaphore } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"

/** Maximum environments in memory. */
const capacity = 10_000

/** Minimum time between two counts of an environment that has reached its limit, in milliseconds. */
const fullMs = 1_000

interface Known {
  /** Records that this node may admit before the next count. */
  left: number
  /** Number of records that a recent count refused, and until when that is valid. Fewer may be admitted. */
  refused: { readonly records: number; readonly until: number }
  readonly counting: Semaphore.Semaphore
}

/** Counts the records of an environment, up to `limit`. */
export type CountRecords = (envId: EnvId, limit: number) => Effect.Effect<number, StoreUnavailable>

export class CountedLimit<E> {
  readonly #count: CountRecords
  /** Returns the error for an environment with as many records as the limit. */
  readonly #toError: (limit: number) => E
  #envs = new Map<EnvId, Known>()

  constructor(count: CountRecords, toError: (limit: number) => E) {
    this.#count = count
    this.#toError = toError
  }

  /** Admits records without an effect. Returns false if `admit` has to count. */
  allows(envId: EnvId, records: number): boolean {
    const known = this.#envs.get(envId)
    if (known === undefined || known.left < records) return false
    known.left -= records
    return true
  }

  /** Admits records. Fails if the environment has as many as the limit; -1 is unlimited. */
  admit(envId: EnvId, records: number, limit: number): Effect.Effect<void, E | StoreUnavailable> {
    if (limit === -1) return Effect.void
    return Effect.suspend(() => {
      const known = this.#find(envId)
      return known.counting.withPermit(
        Effect.gen({ self: this }, function* () {
          // Another fiber may have counted meanwhile.
          if (this.allows(envId, records)) return
          const now = yield* Clock.currentTimeMillis
          const isRefused = now < known.refused.until && records >= known.refused.records
          const rest = isRefused ? 0 : limit - (yield* this.#count(envId, limit))
          known.left = 0
          if (records > rest) {
            if (!isRefused) known.refused = { records, until: now + fullMs }
            return yield* Effect.fail(this.#toError(limit))
          }
          known.left = Math.max(records, Math.ceil(rest / 2)) - records
        })
      )
    })
  }

  #find(envId: EnvId): Known {
    const known = this.#envs.get(envId)
    if (known !== undefined) return known
    if (this.#envs.size >= capacity) this.#envs = new Map()
    const added: Known = { left: 0, refused: { records: 0, until: 0 }, counting: Semaphore.makeUnsafe(1) }
    this.#envs.set(envId, added)
    return added
  }
}
