import { assert, describe, it } from "@effect/vitest"
import type { Env, PlanOverrides } from "@weft/core"
import { Tenants, Webhooks } from "@weft/core"
import type { TrustedFunction, TrustedSvc } from "@weft/core/testing"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, deployed, publish, settle, world } from "../../world.ts"

const onEvent = (event: string, fn: TrustedFunction): TrustedFunction => Object.assign(fn, { meta: { event } })

const modules = {
  shop: {
    main: {
      one: onEvent("one", () => 1),
      left: onEvent("two", () => 1),
      right: onEvent("two", () => 1),
      large: onEvent("large", () => "x".repeat(1000)),
      retried: Object.assign(
        () => {
          throw new Error("again")
        },
        { meta: { event: "retried", retry: { attempts: 3, delay: "1s", backoff: 1, jitter: false } } }
      ),
      chain: onEvent("chain", async (_event: unknown, svc: TrustedSvc) => {
        try {
          await svc.events.publish({ type: "one", data: null })
          return "published"
        } catch (error) {
          return error instanceof Error ? `${error.name}: ${error.message}` : "?"
        }
      }),
      hook: Object.assign(() => 1, { meta: { webhook: { service: "s", path: "/hook", method: "POST" } } }),
      closed: Object.assign(() => 1, {
        meta: { webhook: { service: "s", path: "/closed", method: "POST", auth: "required" } }
      })
    }
  }
}

const monthEnd = Date.UTC(2026, 2, 1)

type World = Layer.Success<ReturnType<typeof world>>

/** Runs a test in an environment on the plan Free with overrides. */
const check = <E>(
  claim: string,
  limits: NonNullable<PlanOverrides["Free"]>,
  body: (env: Env) => Effect.Effect<void, E, World>
) => {
  const free = { requests_per_second: -1, runs_per_month: -1, call_storage_bytes: -1, call_retention_days: -1 }
  return it.effect(claim, () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan: "Free" }))
      yield* settle
      yield* body(env)
    }).pipe(
      Effect.provide(world(modules, { plans: { Free: { ...free, ...limits } } })),
      // Near the end of a month.
      (claimed) => Effect.andThen(TestClock.setTime(monthEnd - 120_000), claimed)
    )
  )
}

/** Returns `ok`, or the reason of the refusal. */
const outcome = <A, E extends { readonly _tag: string; readonly message: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<string, never, R> =>
  Effect.match(effect, { onSuccess: () => "ok", onFailure: (error) => `${error._tag}: ${error.message}` })

const hook = (path = "/hook") =>
  Webhooks.use((webhooks) =>
    webhooks.handle({
      org: "shop",
      env: "production",
      service: "s",
      path,
      method: "POST",
      url: path,
      query: {},
      headers: {},
      body: null,
      remoteIp: "127.0.0.1",
      token: null
    })
  )

const usedUp = "PlanRequired: The plan's 3 runs of this month are used up"

describe("the runs of a month", () => {
  check("are rejected at once when the quota is used up, for events and webhooks", { runs_per_month: 3 }, (env) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome(publish(env, "one")), "ok")
      assert.strictEqual(yield* outcome(hook()), "ok")
      assert.strictEqual(yield* outcome(publish(env, "one")), "ok")
      assert.strictEqual(yield* outcome(publish(env, "one")), usedUp)
      assert.strictEqual(yield* outcome(publish(env, "nobody waits for it")), usedUp)
      assert.strictEqual(yield* outcome(hook()), usedUp)
      yield* settle
      assert.strictEqual((yield* allRuns(env)).length, 3)
    })
  )

  check("stay rejected when the usage is read again, and are allowed in the next month", { runs_per_month: 3 }, (env) =>
    Effect.gen(function* () {
      for (let n = 0; n < 3; n++) yield* publish(env, "one")
      yield* settle
      for (let turn = 0; turn < 3; turn++) {
        yield* TestClock.adjust("6 seconds")
        assert.strictEqual(yield* outcome(publish(env, "one")), usedUp)
      }
      yield* TestClock.setTime(monthEnd + 5000)
      assert.strictEqual(yield* outcome(publish(env, "one")), "ok")
    })
  )

  check("are counted by the handlers of an event", { runs_per_month: 3 }, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "two")
      assert.strictEqual(yield* outcome(publish(env, "two")), "ok")
      assert.strictEqual(yield* outcome(publish(env, "two")), usedUp)
    })
  )

  check("are rejected if another environment of the organization used up the quota", { runs_per_month: 3 }, (env) =>
    Effect.gen(function* () {
      const { env_id } = yield* Tenants.use((tenants) => tenants.createEnv(env.org_id, { name: "staging" }))
      for (let n = 0; n < 3; n++) yield* publish(env, "one")
      assert.strictEqual(yield* outcome(publish({ ...env, env_id }, "one")), usedUp)
    })
  )

  check("do not prevent retries of admitted runs", { runs_per_month: 1 }, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "retried")
      for (let turn = 0; turn < 4; turn++) {
        yield* TestClock.adjust("2 seconds")
        yield* settle
      }
      assert.strictEqual((yield* allRuns(env)).length, 3)
    })
  )

  check("are rejected for user code, with a readable reason", { runs_per_month: 1 }, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "chain")
      yield* settle
      const [run] = yield* allRuns(env)
      assert.strictEqual(run?.result, '"PlanRequired: The plan\'s 1 runs of this month are used up"')
    })
  )

  check("are checked after the credential", { runs_per_month: 0 }, () =>
    Effect.gen(function* () {
      assert.match(yield* outcome(hook("/closed")), /^Unauthorized/)
      assert.match(yield* outcome(hook("/nowhere")), /^NotFound/)
      assert.match(yield* outcome(hook()), /^PlanRequired/)
    })
  )
})

describe("storage for results and logs", () => {
  check("prevents new runs when it is used up", { call_storage_bytes: 1500 }, (env) =>
    Effect.gen(function* () {
      yield* publish(env, "large")
      yield* settle
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual(yield* outcome(publish(env, "large")), "ok")
      yield* settle
      yield* TestClock.adjust("6 seconds")
      const full = "PlanRequired: The plan's 1500 bytes for results and logs of runs are used up"
      assert.strictEqual(yield* outcome(publish(env, "one")), full)
      assert.strictEqual(yield* outcome(hook()), full)
    })
  )
})

describe("a plan without limits", () => {
  check("allows all runs", {}, (env) =>
    Effect.gen(function* () {
      for (let n = 0; n < 50; n++) assert.strictEqual(yield* outcome(publish(env, "one")), "ok")
      assert.strictEqual(yield* outcome(hook()), "ok")
    })
  )
})
