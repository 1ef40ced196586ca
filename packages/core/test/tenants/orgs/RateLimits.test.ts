import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { OrgId } from "../../../src/foundation/Ids.ts"
import type { Timestamp } from "../../../src/foundation/time/Timestamp.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { Plans } from "../../../src/tenants/orgs/Plans.ts"
import { RateLimits } from "../../../src/tenants/orgs/RateLimits.ts"
import { RateStore } from "../../../src/tenants/orgs/RateStore.ts"
import type { Env } from "../../../src/tenants/orgs/Tenant.ts"
import { Tenants } from "../../../src/tenants/orgs/Tenants.ts"
import { crypto } from "../../Services.ts"

/** Counts the requests of each organization. */
const counting = (counts: Map<string, number>) =>
  Layer.effect(
    RateStore,
    Effect.map(RateStore, ({ take }) => ({
      take: (org: OrgId, perSecond: number, now: Timestamp) => {
        counts.set(org, (counts.get(org) ?? 0) + 1)
        return take(org, perSecond, now)
      }
    }))
  ).pipe(Layer.provide(MemoryStores.rates))

const layers = (counts: Map<string, number> = new Map()) =>
  Layer.mergeAll(RateLimits.layer, Tenants.layer).pipe(
    Layer.provide(Plans.layer()),
    Layer.provide(counting(counts)),
    Layer.provide(MemoryStores.layer),
    Layer.provide(crypto)
  )

/** Creates an environment of a new organization on the plan. */
const onPlan = (plan: string, slug = "acme") =>
  Effect.gen(function* () {
    const tenants = yield* Tenants
    yield* tenants.createOrg({ slug, plan })
    return yield* tenants.createEnv(slug, { name: "production" })
  })

const check = ({ env_id }: Env) => RateLimits.use((rates) => rates.check(env_id))

/** Returns the number of requests that were admitted. */
const passed = (env: Env, requests: number) =>
  Effect.map(
    Effect.replicateEffect(Effect.result(check(env)), requests),
    (results) => results.filter((result) => result._tag === "Success").length
  )

const run = <A, E>(body: Effect.Effect<A, E, Layer.Success<ReturnType<typeof layers>>>) =>
  Effect.provide(body, layers())

describe("the request rate", () => {
  for (const [plan, perSecond] of [
    ["Free", 5],
    ["Starter", 20],
    ["Pro", 100],
    ["Scale", 500]
  ] as const) {
    it.effect(`of the plan ${plan} is ${perSecond} per second`, () =>
      run(
        Effect.gen(function* () {
          const env = yield* onPlan(plan)
          assert.strictEqual(yield* passed(env, perSecond + 10), perSecond)
          const error = yield* Effect.flip(check(env))
          assert.deepInclude(error, { _tag: "RateLimited", retryAfterSeconds: 1 })
          yield* TestClock.adjust(1000 / perSecond)
          assert.strictEqual(yield* passed(env, 3), 1)
          yield* TestClock.adjust("1 second")
          assert.strictEqual(yield* passed(env, perSecond + 10), perSecond)
        })
      )
    )
  }

  it.effect("admits a client that waits as long as `retryAfterSeconds`", () =>
    run(
      Effect.gen(function* () {
        const env = yield* onPlan("Starter")
        yield* passed(env, 20)
        for (let turn = 0; turn < 50; turn++) {
          const error = yield* Effect.flip(check(env))
          assert.strictEqual(error._tag, "RateLimited")
          if (error._tag === "RateLimited") yield* TestClock.adjust(error.retryAfterSeconds * 1000)
          assert.strictEqual(yield* passed(env, 21), 20)
        }
      })
    )
  )

  it.effect("is shared by all environments of an organization, and separate for each organization", () =>
    run(
      Effect.gen(function* () {
        const production = yield* onPlan("Free")
        const other = yield* onPlan("Free", "other")
        const staging = yield* Tenants.use((tenants) => tenants.createEnv("acme", { name: "staging" }))
        assert.strictEqual(yield* passed(production, 3), 3)
        assert.strictEqual(yield* passed(staging, 4), 2)
        assert.strictEqual(yield* passed(other, 5), 5)
      })
    )
  )

  it.effect("is not counted without a limit", () => {
    const counts = new Map<string, number>()
    return Effect.provide(
      Effect.gen(function* () {
        for (const plan of ["Enterprise", "Self-Host"]) {
          const env = yield* onPlan(plan, plan.toLowerCase())
          assert.strictEqual(yield* passed(env, 2000), 2000)
        }
        assert.strictEqual(counts.size, 0)
        const limited = yield* onPlan("Scale", "limited")
        yield* passed(limited, 7)
        assert.strictEqual(counts.get(limited.org_id), 7)
      }),
      layers(counts)
    )
  })

  it.effect("changes with the plan", () =>
    run(
      Effect.gen(function* () {
        const env = yield* onPlan("Free")
        assert.strictEqual(yield* passed(env, 9), 5)
        yield* Tenants.use((tenants) => tenants.updateOrg("acme", { plan: "Self-Host" }))
        assert.strictEqual(yield* passed(env, 9), 9)
      })
    )
  )
})
