import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { EnvId } from "../../src/ids/Ids.ts"
import { MemoryStores } from "../../src/memory/MemoryStores.ts"
import { defaultPlans, type PlanOverrides } from "../../src/tenancy/Plan.ts"
import { Plans } from "../../src/tenancy/Plans.ts"
import { TenantStore } from "../../src/tenancy/TenantStore.ts"
import { Tenants } from "../../src/tenancy/Tenants.ts"
import { crypto, failure } from "../Services.ts"

/** Tenants, and the plans of a node on their store, with how often it asks. */
const scene = (overrides?: PlanOverrides) =>
  Effect.gen(function* () {
    const store = yield* TenantStore
    let asked = 0
    const counting = Layer.succeed(TenantStore, {
      ...store,
      getEnv: (id) => {
        asked++
        return store.getEnv(id)
      }
    })
    const plans = yield* Plans.pipe(
      Effect.provide(yield* Layer.build(Plans.layer(overrides).pipe(Layer.provide(counting))))
    )
    const tenants = yield* Tenants
    const org = yield* tenants.createOrg({ slug: "acme", plan: "Starter" })
    const env = yield* tenants.createEnv("acme", { name: "production" })
    yield* turns
    return { plans, tenants, org, env, asked: () => asked }
  })

const turns = Effect.repeat(Effect.yieldNow, { times: 10 })

const layers = Tenants.layer.pipe(
  Layer.provide(Plans.layer()),
  Layer.provideMerge(MemoryStores.layer),
  Layer.provide(crypto)
)

const run = <A, E>(body: Effect.Effect<A, E, Layer.Success<typeof layers> | Scope.Scope>) =>
  Effect.provide(Effect.scoped(body), layers)

describe("the plan of an environment", () => {
  it.effect("is that of its organization, and asked for once", () =>
    run(
      Effect.gen(function* () {
        const { plans, org, env, asked } = yield* scene()
        const first = yield* plans.of(env.env_id)
        assert.deepStrictEqual(first, { env, org, plan: defaultPlans.Starter })
        for (let n = 0; n < 10; n++) assert.strictEqual(yield* plans.of(env.env_id), first)
        assert.strictEqual(asked(), 1)
      })
    )
  )

  it.effect("changes at once on the node that changed it", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const plans = yield* Plans
      yield* tenants.createOrg({ slug: "acme", plan: "Starter" })
      const { env_id } = yield* tenants.createEnv("acme", { name: "production" })
      for (const plan of ["Pro", "Free", "Scale"] as const) {
        yield* tenants.updateOrg("acme", { plan })
        assert.strictEqual((yield* plans.of(env_id)).plan.domains, defaultPlans[plan].domains)
        assert.strictEqual((yield* plans.of(env_id)).org.plan, plan)
      }
    }).pipe(
      Effect.provide(
        Tenants.layer.pipe(Layer.provideMerge(Plans.layer()), Layer.provide(MemoryStores.layer), Layer.provide(crypto))
      )
    )
  )

  it.effect("changes with the news", () =>
    run(
      Effect.gen(function* () {
        const { plans, tenants, env } = yield* scene()
        yield* plans.of(env.env_id)
        const org = yield* tenants.updateOrg("acme", { plan: "Pro", members: 7 })
        yield* turns
        assert.deepStrictEqual(yield* plans.of(env.env_id), { env, org, plan: defaultPlans.Pro })
      })
    )
  )

  it.effect("changes without the news after a minute", () =>
    run(
      Effect.gen(function* () {
        const { plans, org, env } = yield* scene()
        yield* plans.of(env.env_id)
        yield* TenantStore.use((store) => store.updateOrg({ ...org, plan: "Scale" }))
        yield* TestClock.adjust("59 seconds")
        assert.strictEqual((yield* plans.of(env.env_id)).org.plan, "Starter")
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual((yield* plans.of(env.env_id)).plan, defaultPlans.Scale)
      })
    )
  )

  it.effect("is NotFound for an environment that is not there", () =>
    run(
      Effect.gen(function* () {
        const { plans } = yield* scene()
        const unknown = EnvId.make("01890000-0000-7000-8000-000000000001")
        assert.strictEqual(yield* failure(plans.of(unknown)), "NotFound")
      })
    )
  )
})

describe("a host's own limits", () => {
  it.effect("replace those of the table, one by one", () =>
    run(
      Effect.gen(function* () {
        const { plans, env } = yield* scene({ Starter: { requests_per_second: 7, runs_per_month: -1 } })
        const { plan } = yield* plans.of(env.env_id)
        assert.deepStrictEqual(plan, { ...defaultPlans.Starter, requests_per_second: 7, runs_per_month: -1 })
      })
    )
  )

  it.effect("must be integers from 0, or -1", () =>
    run(
      Effect.gen(function* () {
        for (const limit of [-2, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
          const error = yield* Effect.flip(scene({ Free: { storage_bytes: limit } }))
          assert.strictEqual(
            error.message,
            "The limit storage_bytes of the plan Free must be an integer, at least 0, or -1 for unlimited"
          )
        }
      })
    )
  )
})
