/** The rate of requests that a plan allows, per organization across its environments (specification, "Limits"). */
import { Clock, Context, Effect, Layer } from "effect"
import { type NotFound, RateLimited, type StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { Plans, type Subscription } from "./Plans.ts"
import { RateStore } from "./RateStore.ts"

export class RateLimits extends Context.Service<
  RateLimits,
  {
    /**
     * Counts a request of the environment. `RateLimited` when its organization has used what the plan allows: one
     * second's worth at once, and as much again in every second. Plans without a limit cost a look at the plan.
     */
    readonly check: (envId: EnvId) => Effect.Effect<void, RateLimited | NotFound | StoreUnavailable>
    /** Whether it is at hand that no request of the environment is refused, so that none need be counted. */
    readonly isUnlimited: (envId: EnvId) => boolean
  }
>()("@weft/core/tenancy/RateLimits") {
  static readonly layer: Layer.Layer<RateLimits, never, Plans | RateStore> = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const plans = yield* Plans
      const store = yield* RateStore

      const take = Effect.fnUntraced(function* ({ org, plan }: Subscription) {
        const now = Timestamp.make(yield* Clock.currentTimeMillis)
        const waitMs = yield* store.take(org.org_id, plan.requests_per_second, now)
        if (waitMs > 0) return yield* new RateLimited({ retryAfterSeconds: Math.ceil(waitMs / 1000) })
      })

      return RateLimits.of({
        isUnlimited: (envId) => plans.peek(envId)?.plan.requests_per_second === -1,
        check: (envId) =>
          Effect.flatMap(plans.of(envId), (subscription) =>
            subscription.plan.requests_per_second === -1 ? Effect.void : take(subscription)
          )
      })
    })
  )
}
