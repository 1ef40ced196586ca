/** Records of webhooks and tools: what their responses wait for, and what is stored. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, layer, OrgUsages, type PlanOverrides, Runs, Streams, Tenants, Webhooks } from "@weft/core"
import { type TrustedFunction, trustedSandbox } from "@weft/core/testing"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, immediateTurns, masterKeys, settle } from "../../world.ts"
import { faultyStores, type Health } from "./FaultyStores.ts"

interface Request {
  readonly body: string | null
}

interface Svc {
  readonly log: { readonly info: (message: string) => void }
}

/** Fails with the body `fail`, and never ends with the body `wait`. */
const answer = async ({ body }: Request, svc: Svc) => {
  svc.log.info("called")
  if (body === "fail") throw new Error("as requested")
  if (body === "wait") await new Promise(() => undefined)
  return "done"
}

const modes = ["before", "after", "failures", "none"] as const
type Mode = (typeof modes)[number]

const endpoint = (record: Mode): TrustedFunction =>
  Object.assign((request: Request, svc: Svc) => answer(request, svc), {
    meta: { webhook: { service: "s", path: `/${record}` }, record }
  })

const main = Object.fromEntries(modes.map((mode) => [mode, endpoint(mode)]))

const unlimited = { requests_per_second: -1, runs_per_month: -1, call_storage_bytes: -1, call_retention_days: -1 }

/** A node without its stores. */
const runtime = (free: PlanOverrides["Free"] = {}) =>
  layer({ masterKeys, plans: { Free: { ...unlimited, ...free } } }).pipe(
    Layer.provide([trustedSandbox({ shop: { main }, other: { main } }), immediateTurns])
  )

const world = (health: () => Health = () => "up", free: PlanOverrides["Free"] = {}) =>
  Layer.provideMerge(runtime(free), faultyStores(health))

const hook = (mode: Mode, body: "ok" | "fail" | "wait" = "ok", org = "shop") =>
  Webhooks.use((webhooks) =>
    webhooks.handle({
      ...{ org, env: "production", service: "s", path: `/${mode}`, method: "POST", url: `/${mode}`, query: {} },
      ...{
        headers: { "content-type": "text/plain" },
        body: new TextEncoder().encode(body),
        remoteIp: "::1",
        token: null
      }
    })
  )

/** Calls a webhook. Returns `ok`, or the tag of its error. */
const call = (...args: Parameters<typeof hook>) =>
  Effect.match(hook(...args), { onSuccess: () => "ok", onFailure: ({ _tag }) => _tag })

const statuses = (env: Env) => Effect.map(allRuns(env), (runs) => runs.map(({ status }) => status))

const usage = (env: Env) =>
  Effect.map(
    asHost(
      env,
      OrgUsages.use(({ get }) => get)
    ),
    (all) => all.usage
  )

/** An environment on the plan Free. */
const onFree = Effect.gen(function* () {
  const env = yield* deployed("shop")
  yield* Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan: "Free" }))
  yield* settle
  return env
})

/** Advances the clock by 1.2 s, in which all that is pending is stored. */
const aSecond = Effect.gen(function* () {
  for (let n = 0; n < 12; n++) {
    yield* TestClock.adjust(100)
    yield* settle
  }
})

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>, free: PlanOverrides["Free"] = {}) =>
  it.effect(claim, () => Effect.provide(Effect.flatMap(onFree, body), world(undefined, free)))

const checkFaulty = <E>(
  claim: string,
  body: (env: Env, set: (health: Health) => void) => Effect.Effect<void, E, World>
) => {
  let health: Health = "up"
  const set = (next: Health) => {
    health = next
  }
  return it.effect(claim, () =>
    Effect.provide(
      Effect.flatMap(onFree, (env) => body(env, set)),
      world(() => health)
    )
  )
}

describe("The record of a webhook", () => {
  check("precedes the response with before", (env) =>
    Effect.gen(function* () {
      yield* hook("before")
      assert.deepStrictEqual(yield* statuses(env), ["succeeded"])
    })
  )

  check("follows the response within a second with after, with its log", (env) =>
    Effect.gen(function* () {
      yield* hook("after")
      assert.strictEqual(yield* call("after", "fail"), "FunctionFailed")
      assert.deepStrictEqual(yield* statuses(env), [])
      yield* aSecond
      assert.deepStrictEqual(yield* statuses(env), ["failed", "succeeded"])
      const [run] = yield* allRuns(env)
      assert.include(run?.result ?? "", "as requested")
      const logs = yield* asHost(
        env,
        Runs.use((runs) => runs.logs(run?.run_id ?? "", { limit: 10, offset: 0 }))
      )
      assert.deepStrictEqual(
        logs.items.map(({ message }) => message),
        ["request", "called"]
      )
    })
  )

  check("exists only for failed runs with failures, and for none with none", (env) =>
    Effect.gen(function* () {
      for (const mode of ["failures", "none"] as const) {
        yield* hook(mode)
        assert.strictEqual(yield* call(mode, "fail"), "FunctionFailed")
      }
      yield* aSecond
      assert.deepStrictEqual(yield* statuses(env), ["failed"])
      assert.deepInclude(yield* usage(env), { runs_this_period: 4, call_count: 1 })
    })
  )

  check(
    "is not weaker than the plan allows",
    (env) =>
      Effect.gen(function* () {
        yield* hook("none")
        assert.deepStrictEqual(yield* statuses(env), ["succeeded"])
      }),
    { weakest_record: "before" }
  )

  check("of a long run exists from its start with after only", (env) =>
    Effect.gen(function* () {
      const calls = yield* Effect.forEach(modes, (mode) => Effect.forkChild(call(mode, "wait")))
      yield* settle
      yield* aSecond
      assert.deepStrictEqual(yield* statuses(env), ["running", "running"])
      // Each client disconnects.
      for (const fiber of calls) yield* Fiber.interrupt(fiber)
      yield* aSecond
      assert.deepStrictEqual(yield* statuses(env), ["cancelled", "cancelled"])
      assert.deepInclude(yield* usage(env), { runs_this_period: 4, call_count: 2 })
    })
  )

  check("precedes its messages, and runs without a record have no messages", (env) =>
    Effect.gen(function* () {
      const subscription = yield* asHost(
        env,
        Streams.use((streams) => streams.ofEnv())
      )
      for (const mode of ["after", "failures", "none"] as const) yield* hook(mode)
      yield* call("failures", "fail")
      assert.isNull(subscription.takeNow())
      yield* aSecond
      const batches = yield* subscription.take
      const types = typeof batches === "string" ? [] : batches.flat().map(({ activity }) => activity.type)
      const ofRun = (end: "run:stop" | "run:fail") => ["stream:created", "run:start", end]
      assert.deepStrictEqual(types, [...ofRun("run:stop"), ...ofRun("run:fail")])
    }).pipe(Effect.scoped)
  )
})

describe("The quota of runs", () => {
  check(
    "counts runs without a record exactly",
    (env) =>
      Effect.gen(function* () {
        const results: Array<string> = []
        for (let n = 0; n < 12; n++) {
          results.push(yield* call(n % 2 === 0 ? "none" : "failures", n % 3 === 0 ? "fail" : "ok"))
          // Past the age of the cached usage.
          yield* TestClock.adjust("3 seconds")
          yield* settle
        }
        assert.strictEqual(results.filter((result) => result !== "PlanRequired").length, 10)
        assert.strictEqual((yield* usage(env)).runs_this_period, 10)
      }),
    { runs_per_month: 10 }
  )

  check(
    "counts active runs without a record",
    (env) =>
      Effect.gen(function* () {
        for (let n = 0; n < 3; n++) yield* Effect.forkChild(call("none", "wait"))
        yield* settle
        yield* TestClock.adjust("10 seconds")
        yield* settle
        assert.strictEqual((yield* usage(env)).runs_this_period, 0)
        assert.strictEqual(yield* call("none"), "PlanRequired")
      }),
    { runs_per_month: 3 }
  )

  check(
    "counts runs whose record is pending",
    () =>
      Effect.gen(function* () {
        const results: Array<string> = []
        for (let n = 0; n < 4; n++) results.push(yield* call("after"))
        assert.deepStrictEqual(results, ["ok", "ok", "ok", "PlanRequired"])
        yield* TestClock.adjust("10 seconds")
        yield* settle
        assert.strictEqual(yield* call("after"), "PlanRequired")
      }),
    { runs_per_month: 3 }
  )
})

describe("An outage of the store", () => {
  checkFaulty("delays records and counts, and repeats those with an unknown result once", (env, set) =>
    Effect.gen(function* () {
      for (const health of ["down", "mute", "up"] as const) {
        set(health)
        for (const mode of ["after", "failures", "none"] as const) {
          assert.strictEqual(yield* call(mode), "ok")
          assert.strictEqual(yield* call(mode, "fail"), "FunctionFailed")
        }
        for (let n = 0; n < 3; n++) yield* aSecond
      }
      yield* aSecond
      assert.deepStrictEqual((yield* statuses(env)).sort(), [...Array(6).fill("failed"), ...Array(3).fill("succeeded")])
      assert.deepInclude(yield* usage(env), { runs_this_period: 18, call_count: 9 })
    })
  )

  checkFaulty("lets calls wait for their record once too many are pending, of one environment only", (env, set) =>
    Effect.gen(function* () {
      yield* deployed("other")
      set("down")
      for (let n = 0; n < 2500; n++) yield* hook("after")
      assert.strictEqual(yield* call("after"), "StoreUnavailable")
      assert.strictEqual(yield* call("failures"), "ok")
      assert.strictEqual(yield* call("none"), "ok")
      assert.strictEqual(yield* call("after", "ok", "other"), "ok")
      set("up")
      for (let n = 0; n < 2; n++) yield* aSecond
      assert.deepInclude(yield* usage(env), { runs_this_period: 2502, call_count: 2500 })
      yield* hook("after")
    })
  )

  checkFaulty("that is a defect loses a record after three attempts, and not those that follow", (env, set) =>
    Effect.gen(function* () {
      set("broken")
      yield* hook("after")
      for (let n = 0; n < 4; n++) yield* aSecond
      set("up")
      yield* hook("after")
      yield* aSecond
      assert.strictEqual((yield* allRuns(env)).length, 1)
    })
  )
})

describe("A shutdown", () => {
  it.effect("stores pending records and counts", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(faultyStores(() => "up"))
      const node = Layer.provide(runtime(), Layer.succeedContext(stores))
      const scope = yield* Scope.make()
      const running = yield* Layer.buildWithScope(node, scope)
      const env = yield* Effect.provide(onFree, running)
      for (const mode of ["after", "failures", "none"] as const) {
        yield* Effect.provide(hook(mode), running)
        yield* Effect.provide(call(mode, "fail"), running)
      }
      assert.deepStrictEqual(yield* Effect.provide(statuses(env), running), [])
      yield* Scope.close(scope, Exit.void)

      const next = yield* Layer.build(node)
      assert.deepStrictEqual(yield* Effect.provide(statuses(env), next), ["failed", "failed", "succeeded"])
      assert.strictEqual((yield* Effect.provide(usage(env), next)).runs_this_period, 6)
    })
  )
})
