/** The request rate of a plan, per organization across its environments (specification, "Limits"). */
import { Clock, Context, Effect, Layer } from "effect"
import { type NotFound, RateLimited, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { type EnvPlan, Plans } from "./Plans.ts"
import { RateStore } from "./RateStore.ts"

export class RateLimits extends Context.Service<
  RateLimits,
  {
    /**
     * Counts a request of the environment. Fails with `RateLimited` if the token bucket of its organization is empty. The
     * bucket holds the requests of one second and refills at the plan's rate. For unlimited plans, only reads the plan.
     */
    readonly check: (envId: EnvId) => Effect.Effect<void, RateLimited | NotFound | StoreUnavailable>
    /** True if the environment's plan is cached and has no rate limit, so that callers need not count. */
    readonly isUnlimited: (envId: EnvId) => boolean
  }
>()("@weft/core/tenants/orgs/RateLimits") {
  static readonly layer: Layer.Layer<RateLimits, never, Plans | RateStore> = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const plans = yield* Plans
      const store = yield* RateStore

      const take = Effect.fnUntraced(function* ({ org, plan }: EnvPlan) {
        const now = Timestamp.make(yield* Clock.currentTimeMillis)
        const waitMs = yield* store.take(org.org_id, plan.requests_per_second, now)
        if (waitMs > 0) return yield* new RateLimited({ retryAfterSeconds: Math.ceil(waitMs / 1000) })
      })

      return RateLimits.of({
        isUnlimited: (envId) => plans.getCached(envId)?.plan.requests_per_second === -1,
        check: (envId) =>
          Effect.flatMap(plans.of(envId), (subscription) =>
            subscription.plan.requests_per_second === -1 ? Effect.void : take(subscription)
          )
      })
    })
  )
}
