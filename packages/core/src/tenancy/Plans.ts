/** Which plan an environment is on: a map look-up when it is warm. */
import { Context, Effect, Layer } from "effect"
import type { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { makeSnapshots } from "../activity/Snapshots.ts"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { EnvId } from "../ids/Ids.ts"
import { firstInvalid, type Plan, type PlanInvalid, type PlanName, type PlanOverrides, planTable } from "./Plan.ts"
import type { Env, Org } from "./Tenant.ts"
import { TenantStore } from "./TenantStore.ts"

/** An environment and its organization, with the limits that hold for them. */
export interface Subscription {
  readonly env: Env
  readonly org: Org
  readonly plan: Plan
}

/** Environments that a node remembers. */
const capacity = 10_000

/** The longest that a node which missed the news goes by a former plan. */
const ageLimit = "60 seconds"

export class Plans extends Context.Service<
  Plans,
  {
    /** The limits of each plan on this server. */
    readonly table: Readonly<Record<PlanName, Plan>>
    /** The environment, its organization and its plan; the same object until one of them changes. */
    readonly of: (envId: EnvId) => Effect.Effect<Subscription, NotFound | StoreUnavailable>
    /** As `of`, where it is at hand. */
    readonly peek: (envId: EnvId) => Subscription | undefined
    /** To be called when tenants changed, so that this node goes by what they are now; the others hear the news. */
    readonly forget: Effect.Effect<void>
  }
>()("@weft/core/tenancy/Plans") {
  /** `overrides` replace limits of the table of plans. */
  static readonly layer = (overrides: PlanOverrides = {}): Layer.Layer<Plans, PlanInvalid, TenantStore | Feed> =>
    Layer.effect(
      Plans,
      Effect.gen(function* () {
        const plans = planTable(overrides)
        const invalid = firstInvalid(plans)
        if (invalid !== null) return yield* invalid
        const store = yield* TenantStore
        const subscriptions = yield* makeSnapshots(
          (envId: EnvId) =>
            Effect.gen(function* () {
              const env = yield* store.getEnv(envId)
              const org = yield* store.getOrg(env.org_id)
              return { env, org, plan: plans[org.plan] }
            }),
          { capacity, ageLimit }
        )
        yield* listen(
          (message) => (message.type === "tenants:changed" ? subscriptions.forgetAll : Effect.void),
          subscriptions.forgetAll
        )
        return Plans.of({
          table: plans,
          of: subscriptions.get,
          peek: subscriptions.peek,
          forget: subscriptions.forgetAll
        })
      })
    )
}
