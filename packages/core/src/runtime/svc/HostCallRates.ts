/**
 * The rate of host calls of a plan, per organization and node. Calls above it wait instead of failing, so that a guest
 * slows down to the rate of its plan.
 *
 * It counts in memory, because a count that nodes share would cost a query, and most calls cost less than one.
 */
import { Clock, Effect } from "effect"
import { type EnvPlan, Plans } from "../../tenants/orgs/Plans.ts"
import type { Run } from "../runs/Run.ts"

export interface HostCallRates {
  /** Counts a call of the run. Returns null if it may start now, else an effect that waits until then. */
  readonly admit: (run: Run) => Effect.Effect<void> | null
}

/** Maximum organizations before those without recent calls are forgotten. */
const organizationsMax = 10_000

const secondMs = 1000

export const makeHostCallRates: Effect.Effect<HostCallRates, never, Plans> = Effect.gen(function* () {
  const plans = yield* Plans
  const clock = yield* Clock.Clock
  /** Time at which the bucket of each organization is full again, in epoch milliseconds. */
  const fullAt = new Map<string, number>()

  const forgetIdle = (now: number): void => {
    if (fullAt.size < organizationsMax) return
    for (const [org, time] of fullAt) if (time <= now) fullAt.delete(org)
  }

  /** Takes a token of a bucket with one second's worth of calls. Returns the milliseconds until the call may start. */
  const take = ({ org, plan }: EnvPlan): number => {
    const now = clock.currentTimeMillisUnsafe()
    const known = fullAt.get(org.org_id)
    if (known === undefined) forgetIdle(now)
    const full = Math.max(known ?? now, now)
    const callMs = secondMs / plan.host_calls_per_second
    fullAt.set(org.org_id, full + callMs)
    return Math.max(0, Math.ceil(full + callMs - secondMs - now))
  }

  const wait = (found: EnvPlan): Effect.Effect<void> | null => {
    if (found.plan.host_calls_per_second === -1) return null
    const ms = take(found)
    return ms === 0 ? null : Effect.sleep(ms)
  }

  return {
    admit: ({ env_id }) => {
      const found = plans.getCached(env_id)
      if (found !== undefined) return wait(found)
      // During an outage of the store, calls are not limited: those that need the store fail anyway.
      return Effect.matchEffect(plans.of(env_id), {
        onFailure: () => Effect.void,
        onSuccess: (loaded) => wait(loaded) ?? Effect.void
      })
    }
  }
})
