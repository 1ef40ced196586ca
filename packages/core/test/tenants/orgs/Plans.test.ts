import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { EnvId } from "../../../src/foundation/Ids.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { defaultPlans, type PlanOverrides } from "../../../src/tenants/orgs/Plan.ts"
import { Plans } from "../../../src/tenants/orgs/Plans.ts"
import { TenantStore } from "../../../src/tenants/orgs/TenantStore.ts"
import { Tenants } from "../../../src/tenants/orgs/Tenants.ts"
import { crypto, failure } from "../../Services.ts"

/** Tenants, and the plans of a node on the same store, with a count of its queries. */
const setUp = (overrides?: PlanOverrides) =>
  Effect.gen(function* () {
    const store = yield* TenantStore
    let queries = 0
    const counting = Layer.succeed(TenantStore, {
      ...store,
      getEnv: (id) => {
        queries++
        return store.getEnv(id)
      }
    })
    const plans = yield* Plans.pipe(
      Effect.provide(yield* Layer.build(Plans.layer(overrides).pipe(Layer.provide(counting))))
    )
    const tenants = yield* Tenants
    const org = yield* tenants.createOrg({ slug: "acme", plan: "Starter" })
    const env = yield* tenants.createEnv("acme", { name: "production" })
    yield* settle
    return { plans, tenants, org, env, queries: () => queries }
  })

const settle = Effect.repeat(Effect.yieldNow, { times: 10 })

const layers = Tenants.layer.pipe(
  Layer.provide(Plans.layer()),
  Layer.provideMerge(MemoryStores.layer),
  Layer.provide(crypto)
)

const run = <A, E>(body: Effect.Effect<A, E, Layer.Success<typeof layers> | Scope.Scope>) =>
  Effect.provide(Effect.scoped(body), layers)

describe("the plan of an environment", () => {
  it.effect("is that of its organization, and is queried once", () =>
    run(
      Effect.gen(function* () {
        const { plans, org, env, queries } = yield* setUp()
        const first = yield* plans.of(env.env_id)
        assert.deepStrictEqual(first, { env, org, plan: defaultPlans.Starter, copiesTo: [] })
        for (let n = 0; n < 10; n++) assert.strictEqual(yield* plans.of(env.env_id), first)
        assert.strictEqual(queries(), 1)
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

  it.effect("changes with the message of another node", () =>
    run(
      Effect.gen(function* () {
        const { plans, tenants, env } = yield* setUp()
        yield* plans.of(env.env_id)
        const org = yield* tenants.updateOrg("acme", { plan: "Pro", members: 7 })
        yield* settle
        assert.deepStrictEqual(yield* plans.of(env.env_id), { env, org, plan: defaultPlans.Pro, copiesTo: [] })
      })
    )
  )

  it.effect("changes after a minute without the message", () =>
    run(
      Effect.gen(function* () {
        const { plans, org, env } = yield* setUp()
        yield* plans.of(env.env_id)
        yield* TenantStore.use((store) => store.updateOrg({ ...org, plan: "Scale" }))
        yield* TestClock.adjust("59 seconds")
        assert.strictEqual((yield* plans.of(env.env_id)).org.plan, "Starter")
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual((yield* plans.of(env.env_id)).plan, defaultPlans.Scale)
      })
    )
  )

  it.effect("is NotFound for an unknown environment", () =>
    run(
      Effect.gen(function* () {
        const { plans } = yield* setUp()
        const unknown = EnvId.make("01890000-0000-7000-8000-000000000001")
        assert.strictEqual(yield* failure(plans.of(unknown)), "NotFound")
      })
    )
  )
})

describe("the limits of a host", () => {
  it.effect("replace individual limits of the table", () =>
    run(
      Effect.gen(function* () {
        const { plans, env } = yield* setUp({ Starter: { requests_per_second: 7, runs_per_month: -1 } })
        const { plan } = yield* plans.of(env.env_id)
        assert.deepStrictEqual(plan, { ...defaultPlans.Starter, requests_per_second: 7, runs_per_month: -1 })
      })
    )
  )

  it.effect("include the weakest record, one of its modes", () =>
    run(
      Effect.gen(function* () {
        const { plans, env } = yield* setUp({ Starter: { weakest_record: "after" } })
        assert.strictEqual((yield* plans.of(env.env_id)).plan.weakest_record, "after")
        const overrides: object = { Free: { weakest_record: 1 } }
        const error = yield* Effect.flip(setUp(overrides))
        assert.strictEqual(
          error.message,
          "The limit weakest_record of the plan Free must be one of before, after, failures, none"
        )
      })
    )
  )

  it.effect("must be integers from 0, or -1", () =>
    run(
      Effect.gen(function* () {
        for (const limit of [-2, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
          const error = yield* Effect.flip(setUp({ Free: { storage_bytes: limit } }))
          assert.strictEqual(
            error.message,
            "The limit storage_bytes of the plan Free must be an integer, at least 0, or -1 for unlimited"
          )
        }
      })
    )
  )
})
