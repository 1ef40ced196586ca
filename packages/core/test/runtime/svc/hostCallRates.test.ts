/** The rate of host calls of a plan. */
import { assert, describe, it } from "@effect/vitest"
import { type EnvId, type PlanOverrides, Plans, Tenants } from "@weft/core"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { makeHostCallRates } from "../../../src/runtime/svc/HostCallRates.ts"
import { newEnv, services } from "../../Services.ts"
import { makeRun } from "./Runs.ts"

const onPlans = (plans: PlanOverrides) => Layer.provideMerge(Plans.layer(plans), services())

const setUp = Effect.gen(function* () {
  const env = yield* newEnv("acme")
  const rates = yield* makeHostCallRates
  const call = (run: number, env_id = env.env_id) => rates.admit(makeRun(env_id, run)) ?? Effect.void
  return { env, rates, call }
})

describe("the rate of host calls", () => {
  it.effect("lets one second's worth start at once, and the others at the plan's rate, in their order", () =>
    Effect.gen(function* () {
      const { call } = yield* setUp
      const started: Array<number> = []
      const calls = Array.from({ length: 20 }, (_, n) =>
        Effect.andThen(
          call(n % 3),
          Effect.sync(() => started.push(n))
        )
      )
      const all = yield* Effect.forkChild(Effect.all(calls, { concurrency: "unbounded" }))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(started, [...Array(10).keys()])
      for (let n = 11; n <= 20; n++) {
        yield* TestClock.adjust(100)
        assert.deepStrictEqual(started, [...Array(n).keys()])
      }
      yield* Fiber.join(all)
      yield* TestClock.adjust(500)
      started.length = 0
      yield* Effect.forkChild(Effect.all(calls, { concurrency: "unbounded" }))
      yield* TestClock.adjust(0)
      assert.strictEqual(started.length, 5)
    }).pipe(Effect.provide(onPlans({ "Self-Host": { host_calls_per_second: 10 } })))
  )

  it.effect("is that of the organization, whichever environment calls, and of no other organization", () =>
    Effect.gen(function* () {
      const { env, call } = yield* setUp
      const other = yield* newEnv("other")
      const tenants = yield* Tenants
      const second = yield* tenants.createEnv("acme", { name: "second" })
      yield* call(1)
      yield* call(1, other.env_id)
      const started: Array<string> = []
      const start = (name: string, env_id: EnvId) =>
        Effect.forkChild(
          Effect.andThen(
            call(1, env_id),
            Effect.sync(() => started.push(name))
          )
        )
      yield* start("second", second.env_id)
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(started, [])
      yield* start("first", env.env_id)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(started, ["second"])
      yield* start("other", other.env_id)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(started, ["second", "other"])
    }).pipe(Effect.provide(onPlans({ "Self-Host": { host_calls_per_second: 1 } })))
  )

  it.effect("needs no effect for a plan without a limit, once the plan is cached", () =>
    Effect.gen(function* () {
      const { env, rates, call } = yield* setUp
      yield* call(1)
      for (let n = 0; n < 10_000; n++) assert.isNull(rates.admit(makeRun(env.env_id)))
    }).pipe(Effect.provide(onPlans({})))
  )
})
