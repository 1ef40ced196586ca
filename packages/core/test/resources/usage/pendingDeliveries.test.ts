/** Limits of pending deliveries and schedules of an environment: `max_pending_deliveries` and `max_schedules`. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, Events, type PlanOverrides, Tenants } from "@weft/core"
import type { TrustedFunction, TrustedSvc } from "@weft/core/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, publish, settle, world } from "../../world.ts"

const handler = (meta: object, fn: TrustedFunction): TrustedFunction => Object.assign(fn, { meta })

const attempt = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call
    return "published"
  } catch (error) {
    return `${error}`
  }
}

const modules = {
  queue: {
    main: {
      work: handler({ event: "work" }, () => "done"),
      twin: handler({ event: "work" }, () => "done"),
      retried: handler({ event: "retried", retry: { attempts: 3, delay: "1m", jitter: false } }, () => {
        throw new Error("again")
      }),
      calls: handler({ event: "calls" }, (_: unknown, svc: TrustedSvc) =>
        attempt(svc.events.publish({ type: "work", data: null, delay: "PT1H" }))
      ),
      tick: handler({ schedule: "* * * * *" }, () => "ticked")
    }
  }
}

const limits: NonNullable<PlanOverrides["Free"]> = {
  requests_per_second: -1,
  host_calls_per_second: -1,
  runs_per_month: -1,
  call_storage_bytes: -1,
  max_pending_deliveries: 10,
  max_schedules: 3
}

const message =
  "The environment has 10 pending deliveries, as many as its plan allows (max_pending_deliveries): publish again when some have run, or cancel them"

/** Publishes an event for an hour later: two deliveries. */
const later = (env: Env) =>
  asHost(
    env,
    Events.use((events) => events.publish({ type: "work", data: null, delay: "PT1H" }))
  )

const full = Effect.gen(function* () {
  const env = yield* deployed("queue")
  yield* Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan: "Free" }))
  yield* settle
  for (let n = 0; n < 5; n++) yield* later(env)
  return env
})

const provided = Effect.provide(world(modules, { plans: { Free: limits } }))

describe("an environment with as many pending deliveries as its plan allows", () => {
  it.effect("publishes no further event with handlers, and says why and when to try again", () =>
    Effect.gen(function* () {
      const env = yield* full
      const error = yield* Effect.flip(later(env))
      assert.deepInclude(error, { _tag: "RateLimited", retryAfterSeconds: 5, message })
      assert.strictEqual((yield* Effect.flip(publish(env, "work")))._tag, "RateLimited")
      yield* publish(env, "nobody")
      const many = [
        { type: "nobody", data: null },
        { type: "work", data: null }
      ]
      const refused = yield* Effect.flip(
        asHost(
          env,
          Events.use((events) => events.publishMany(many))
        )
      )
      assert.strictEqual(refused._tag, "RateLimited")
    }).pipe(provided)
  )

  it.effect("publishes again after some have run", () =>
    Effect.gen(function* () {
      const env = yield* full
      yield* Effect.flip(later(env))
      yield* TestClock.adjust("61 minutes")
      yield* settle
      yield* publish(env, "work")
      yield* settle
      const results = (yield* allRuns(env)).filter(({ run_type }) => run_type === "event")
      assert.strictEqual(results.length, 12)
    }).pipe(provided)
  )

  it.effect("continues its schedules, retries and running functions, which receive the error", () =>
    Effect.gen(function* () {
      const env = yield* deployed("queue")
      yield* Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan: "Free" }))
      yield* settle
      for (let n = 0; n < 4; n++) yield* later(env)
      yield* publish(env, "retried")
      yield* publish(env, "calls")
      yield* settle
      yield* TestClock.adjust("3 minutes")
      yield* settle
      yield* TestClock.adjust("3 minutes")
      yield* settle
      const runs = yield* allRuns(env)
      const of = (name: string) => runs.filter((run) => run.var === name)
      assert.strictEqual(of("retried").length, 3)
      assert.isAtLeast(of("tick").length, 4)
      assert.deepStrictEqual(
        of("calls").map(({ result }) => JSON.parse(result ?? "")),
        [`RateLimited: ${message}`]
      )
    }).pipe(provided)
  )

  it.effect("may have as many schedules of events as its plan allows, and create another after one is cancelled", () =>
    Effect.gen(function* () {
      const env = yield* deployed("queue")
      yield* Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan: "Free" }))
      yield* settle
      const create = (n: number) =>
        asHost(
          env,
          Events.use((events) =>
            events.publish({ type: "svc:schedule:new", data: { fn: "main/work", args: [n], schedule: "P1D" } })
          )
        )
      for (let n = 0; n < 3; n++) yield* create(n)
      const error = yield* Effect.flip(create(3))
      assert.deepInclude(error, {
        _tag: "PlanRequired",
        reason:
          "The plan allows 3 schedules that events or functions create, per environment (max_schedules): cancel some first"
      })
      yield* asHost(
        env,
        Events.use((events) => events.publish({ type: "svc:schedule:cancel", data: { fn: "main/work" } }))
      )
      yield* TestClock.adjust("2 seconds")
      yield* create(4)
    }).pipe(provided)
  )

  it.effect("does not limit another environment", () =>
    Effect.gen(function* () {
      const env = yield* full
      yield* Effect.flip(later(env))
      const other = yield* deployed("queue", "other")
      yield* Tenants.use((tenants) => tenants.updateOrg(other.org_id, { plan: "Free" }))
      yield* settle
      yield* later(other)
    }).pipe(provided)
  )
})
