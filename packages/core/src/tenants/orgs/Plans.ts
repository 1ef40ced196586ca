/** The plan of an environment: one map look-up when it is cached. */
import { Context, Effect, Layer } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import type { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { makeSnapshots } from "../../platform/cluster/Snapshots.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { firstInvalid, type Plan, type PlanInvalid, type PlanName, type PlanOverrides, planTable } from "./Plan.ts"
import type { Env, Org } from "./Tenant.ts"
import { TenantStore } from "./TenantStore.ts"

/** An environment and its organization, with the limits that hold for them. */
export interface EnvPlan {
  readonly env: Env
  readonly org: Org
  readonly plan: Plan
  /** Environments of previews that get copies of its events. */
  readonly copiesTo: ReadonlyArray<EnvId>
}

/** Maximum environments in the cache of a node. */
const capacity = 10_000

/** Maximum age of a cached plan on a node that missed the `tenants:changed` message. */
const ageLimit = "60 seconds"

export class Plans extends Context.Service<
  Plans,
  {
    /** Limits of each plan on this server. */
    readonly table: Readonly<Record<PlanName, Plan>>
    /** Returns the environment, its organization and its plan: the same object until one of them changes. */
    readonly of: (envId: EnvId) => Effect.Effect<EnvPlan, NotFound | StoreUnavailable>
    /** Returns the cached result of `of`, or undefined. */
    readonly getCached: (envId: EnvId) => EnvPlan | undefined
    /** Clears the cache of this node. Callers that change tenants also send `tenants:changed` to the other nodes. */
    readonly forget: Effect.Effect<void>
  }
>()("@weft/core/tenants/orgs/Plans") {
  /** Provides the plans of the default table with the host's `overrides`. */
  static readonly layer = (overrides: PlanOverrides = {}): Layer.Layer<Plans, PlanInvalid, TenantStore | ClusterBus> =>
    Layer.effect(
      Plans,
      Effect.gen(function* () {
        const plans = planTable(overrides)
        const invalid = firstInvalid(plans)
        if (invalid !== null) return yield* invalid
        const store = yield* TenantStore
        const cachedPlans = yield* makeSnapshots(
          (envId: EnvId) =>
            Effect.gen(function* () {
              const env = yield* store.getEnv(envId)
              const org = yield* store.getOrg(env.org_id)
              return { env, org, plan: plans[org.plan], copiesTo: yield* store.copiesTo(envId) }
            }),
          { capacity, ageLimit }
        )
        yield* subscribe(
          (message) => (message.type === "tenants:changed" ? cachedPlans.invalidateAll : Effect.void),
          cachedPlans.invalidateAll
        )
        return Plans.of({
          table: plans,
          of: cachedPlans.get,
          getCached: cachedPlans.getCached,
          forget: cachedPlans.invalidateAll
        })
      })
    )
}
