/**
 * The limit of pending deliveries of an environment.
 *
 * A node counts in the store, and then admits half of the difference to the limit before it counts again. So most admissions
 * cost a subtraction. Nodes count for themselves, and together they may exceed the limit by what they admit between two counts.
 */
import { Clock, Effect, Semaphore } from "effect"
import { RateLimited, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import type { UsageStore } from "./UsageStore.ts"

/** Maximum environments in memory. */
const capacity = 10_000

/** Minimum time between two counts of an environment that has reached its limit, in milliseconds. */
const fullMs = 1_000

/** Seconds after which a refused client may try again. */
const retryAfterSeconds = 5

interface Known {
  /** Deliveries that this node may admit before the next count. */
  left: number
  /** Deliveries that a recent count refused, and until when that is valid. Fewer may be admitted. */
  refused: { readonly deliveries: number; readonly until: number }
  readonly counting: Semaphore.Semaphore
}

export class PendingDeliveries {
  readonly #store: UsageStore["Service"]
  #envs = new Map<EnvId, Known>()

  constructor(store: UsageStore["Service"]) {
    this.#store = store
  }

  /** Admits deliveries without an effect. Returns false if `admit` has to count. */
  allows(envId: EnvId, deliveries: number): boolean {
    const known = this.#envs.get(envId)
    if (known === undefined || known.left < deliveries) return false
    known.left -= deliveries
    return true
  }

  /** Admits deliveries. Fails with `RateLimited` if the environment has as many as the limit. */
  admit(envId: EnvId, deliveries: number, limit: number): Effect.Effect<void, RateLimited | StoreUnavailable> {
    return Effect.suspend(() => {
      const known = this.#find(envId)
      return known.counting.withPermit(
        Effect.gen({ self: this }, function* () {
          // Another fiber may have counted meanwhile.
          if (this.allows(envId, deliveries)) return
          const now = yield* Clock.currentTimeMillis
          if (now < known.refused.until && deliveries >= known.refused.deliveries) return yield* tooMany(limit)
          const rest = limit - (yield* this.#store.pendingDeliveries(envId, limit))
          known.left = 0
          if (deliveries > rest) {
            known.refused = { deliveries, until: now + fullMs }
            return yield* tooMany(limit)
          }
          known.left = Math.max(deliveries, Math.ceil(rest / 2)) - deliveries
        })
      )
    })
  }

  #find(envId: EnvId): Known {
    const known = this.#envs.get(envId)
    if (known !== undefined) return known
    if (this.#envs.size >= capacity) this.#envs = new Map()
    const added: Known = { left: 0, refused: { deliveries: 0, until: 0 }, counting: Semaphore.makeUnsafe(1) }
    this.#envs.set(envId, added)
    return added
  }
}

const tooMany = (limit: number): Effect.Effect<never, RateLimited> =>
  Effect.fail(
    new RateLimited({
      retryAfterSeconds,
      reason: `The environment has ${limit} pending deliveries, as many as its plan allows (max_pending_deliveries): publish again when some have run, or cancel them`
    })
  )
