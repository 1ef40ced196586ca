import { assert, describe, it } from "@effect/vitest"
import type { Env, RuntimeConfig } from "@weft/core"
import { Calls, RunControl, Runs, Webhooks } from "@weft/core"
import { ClusterBus, NodeMetrics } from "@weft/core/adapter"
import { Effect, Fiber, type Layer, PubSub } from "effect"
import { TestClock } from "effect/testing"
import { as, failure } from "../../Services.ts"
import { allRuns, asHost, deployed, publish, runsOf, settle, world } from "../../world.ts"
import { cancel, cancelAll, endAll, hangs, never, readLogs, signals, startRun } from "./PendingRuns.ts"

const modules = {
  app: {
    main: {
      hangs: hangs({ event: "job", retry: { attempts: 5, delay: "1s", jitter: false } }),
      other: hangs({ event: "other" }),
      single: hangs({ event: "single", concurrency: { limit: 1 } }),
      quick: Object.assign(() => "done", { meta: { event: "quick" } }),
      fails: Object.assign(
        () => {
          throw new Error("no")
        },
        { meta: { event: "fails", retry: { attempts: 2, delay: "10s", jitter: false } } }
      ),
      hook: hangs({ webhook: { service: "s", path: "/hang", method: "GET", auth: "none" } }),
      called: () => never()
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(
  claim: string,
  body: (env: Env) => Effect.Effect<void, E, World>,
  config: Omit<RuntimeConfig, "masterKeys"> = {}
) =>
  it.effect(claim, () =>
    Effect.provide(
      Effect.flatMap(deployed("app"), (env) => Effect.ensuring(body(env), endAll)),
      world(modules, config)
    )
  )

describe("cancelling a run", () => {
  check("stops its code, prevents retries and keeps its log", (env) =>
    Effect.gen(function* () {
      signals.length = 0
      const run = yield* startRun(env, "job")
      assert.deepStrictEqual(yield* readLogs(env, run.run_id), ["began"])
      const cancelled = yield* cancel(env, run.run_id)
      assert.deepStrictEqual([cancelled.run_id, cancelled.status], [run.run_id, "cancelled"])
      assert.include(cancelled.result ?? "", '"name":"Cancelled"')
      assert.isNotNull(cancelled.stop_time)
      yield* settle
      assert.isTrue(signals[0]?.aborted)
      yield* endAll
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.deepStrictEqual(yield* allRuns(env), [cancelled])
      assert.deepStrictEqual(yield* readLogs(env, run.run_id), ["began"])
    })
  )

  check("publishes run:cancel and event:handled once", (env) =>
    Effect.gen(function* () {
      const run = yield* startRun(env, "job")
      const activity = yield* ClusterBus.use((bus) => bus.activity)
      const { result } = yield* cancel(env, run.run_id)
      yield* settle
      const { run_id, stream_id, event_id, env_id, project_id, project_name } = run
      const told: ReadonlyArray<object> = yield* PubSub.takeAll(activity)
      assert.sameDeepMembers(
        [...told],
        [
          { type: "run:cancel", env_id, run_id, stream_id, project_id, project_name, run_type: "event", result },
          { type: "event:handled", env_id, event_id, stream_id, event_type: "job" }
        ]
      )
      const { read } = yield* NodeMetrics
      const counted = (yield* read).find(({ labels }) => labels?.status === "cancelled")
      assert.deepInclude(counted, { name: "weft_runs_total", value: 1 })
    }).pipe(Effect.scoped)
  )

  check("fails with BadRequest if the run has ended, and with NotFound if it is unknown", (env) =>
    Effect.gen(function* () {
      const run = yield* startRun(env, "job")
      yield* cancel(env, run.run_id)
      assert.strictEqual(yield* failure(cancel(env, run.run_id)), "BadRequest")
      const done = yield* startRun(env, "quick")
      assert.strictEqual(yield* failure(cancel(env, done.run_id)), "BadRequest")
      assert.strictEqual(yield* failure(cancel(env, env.env_id)), "NotFound")
      assert.strictEqual(yield* failure(cancel(env, "nonsense")), "NotFound")
      assert.strictEqual(yield* failure(cancel(yield* deployed("app", "elsewhere"), run.run_id)), "NotFound")
    })
  )

  check("fails for a failed run even if another attempt follows", (env) =>
    Effect.gen(function* () {
      const run = yield* startRun(env, "fails")
      assert.strictEqual(run.status, "failed")
      assert.strictEqual(yield* failure(cancel(env, run.run_id)), "BadRequest")
    })
  )

  check("succeeds for exactly one of many concurrent callers", (env) =>
    Effect.gen(function* () {
      const run = yield* startRun(env, "job")
      const tried = yield* Effect.all(
        Array.from({ length: 10 }, () => Effect.result(cancel(env, run.run_id))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(tried.filter((result) => result._tag === "Success").length, 1)
    })
  )

  check("concurrently with its end has one result, which is both stored and published", (env) =>
    Effect.gen(function* () {
      for (let turn = 0; turn < 30; turn++) {
        const run = yield* startRun(env, "job")
        const cancelling = yield* Effect.forkChild(Effect.result(cancel(env, run.run_id)))
        for (let yields = 0; yields < turn % 10; yields++) yield* Effect.yieldNow
        yield* endAll
        const result = yield* Fiber.join(cancelling)
        yield* settle
        const [stored, ...others] = yield* runsOf(env, run.event_id ?? "")
        assert.deepStrictEqual(others, [])
        if (result._tag === "Success") assert.deepStrictEqual(stored, result.success)
        else assert.strictEqual(stored?.status, "succeeded")
      }
    })
  )

  check(
    "releases its slot for pending deliveries",
    (env) =>
      Effect.gen(function* () {
        const run = yield* startRun(env, "job")
        const event = yield* publish(env, "quick")
        yield* settle
        assert.deepStrictEqual(yield* runsOf(env, event.event_id), [])
        yield* cancel(env, run.run_id)
        yield* settle
        const [next] = yield* runsOf(env, event.event_id)
        assert.strictEqual(next?.status, "succeeded")
      }),
    { deliveries: { total: 1, perEnv: 1 } }
  )

  check("unparks the next delivery of its group", (env) =>
    Effect.gen(function* () {
      const first = yield* startRun(env, "single")
      const event = yield* publish(env, "single")
      yield* settle
      assert.deepStrictEqual(yield* runsOf(env, event.event_id), [])
      yield* cancel(env, first.run_id)
      yield* settle
      const [next] = yield* runsOf(env, event.event_id)
      assert.strictEqual(next?.status, "running")
    })
  )

  check("fails the request of its webhook", (env) =>
    Effect.gen(function* () {
      const request = Webhooks.use((webhooks) =>
        webhooks.handle({
          org: "app",
          env: "production",
          service: "s",
          path: "/hang",
          method: "GET",
          url: "/",
          query: {},
          headers: {},
          body: null,
          remoteIp: "127.0.0.1",
          token: null
        })
      )
      const waiting = yield* Effect.forkChild(Effect.result(request))
      yield* settle
      yield* TestClock.adjust("100 millis")
      yield* settle
      const [run] = yield* allRuns(env)
      yield* cancel(env, run?.run_id ?? "")
      yield* settle
      const result = yield* Fiber.join(waiting)
      assert.strictEqual(result._tag === "Failure" ? result.failure._tag : "", "FunctionFailed")
      assert.deepStrictEqual(
        (yield* allRuns(env)).map(({ status }) => status),
        ["cancelled"]
      )
      assert.deepStrictEqual(yield* readLogs(env, run?.run_id ?? ""), ["request", "began"])
    })
  )

  check("ends the wait of its caller", (env) =>
    Effect.gen(function* () {
      const calling = yield* Effect.forkChild(
        asHost(
          env,
          Calls.use((calls) => calls.call({ fn: "main/called", wait: 100 }))
        )
      )
      yield* settle
      const [run] = yield* allRuns(env)
      yield* cancel(env, run?.run_id ?? "")
      yield* settle
      assert.strictEqual((yield* Fiber.join(calling)).run?.status, "cancelled")
    })
  )

  check("requires call: create on its function, and fails with NotFound without it", (env) =>
    Effect.gen(function* () {
      const run = yield* startRun(env, "job")
      const tried = (permissions: object) =>
        as(env.env_id, permissions)(RunControl.use((control) => control.cancel(run.run_id)))
      assert.strictEqual(yield* failure(tried({ "run:*": ["read"] })), "Forbidden")
      assert.strictEqual(yield* failure(tried({ "call:main/other": ["create"] })), "NotFound")
      assert.strictEqual((yield* tried({ "call:app:main/hangs": ["create"] })).status, "cancelled")
    })
  )
})

describe("cancelling many runs", () => {
  check("cancels the runs that the query selects", (env) =>
    Effect.gen(function* () {
      yield* startRun(env, "job")
      const second = yield* startRun(env, "job")
      yield* Effect.forkChild(
        asHost(
          env,
          Calls.use((calls) => calls.call({ fn: "main/called" }))
        )
      )
      yield* settle
      assert.strictEqual(yield* cancelAll(env, { eventId: second.event_id ?? "" }), 1)
      assert.strictEqual(yield* cancelAll(env, { type: "schedule" }), 0)
      assert.strictEqual(yield* cancelAll(env, { type: "call" }), 1)
      assert.strictEqual(yield* failure(cancelAll(env, { eventId: "nonsense" })), "BadRequest")
      assert.strictEqual(yield* cancelAll(yield* deployed("app", "elsewhere")), 0)
      assert.strictEqual(yield* cancelAll(env), 1)
      assert.strictEqual(yield* cancelAll(env), 0)
      assert.deepStrictEqual(
        (yield* allRuns(env)).map(({ status }) => status),
        ["cancelled", "cancelled", "cancelled"]
      )
    })
  )

  check("cancels only runs of functions that the caller may call", (env) =>
    Effect.gen(function* () {
      const kept = yield* startRun(env, "job")
      yield* startRun(env, "other")
      const tried = as(env.env_id, { "call:main/other": ["create"], "call:app:main/quick": ["create"] })(
        RunControl.use((control) => control.cancelAll({}))
      )
      assert.strictEqual(yield* tried, 1)
      const running = (yield* allRuns(env)).filter(({ status }) => status === "running")
      assert.deepStrictEqual(running, [kept])
    })
  )

  check(
    "cancels more runs than fit into one transaction",
    (env) =>
      Effect.gen(function* () {
        for (let n = 0; n < 450; n++) yield* publish(env, "job")
        yield* settle
        assert.strictEqual(yield* cancelAll(env), 450)
        yield* settle
        const { running, cancelled } = yield* asHost(
          env,
          Runs.use((runs) => runs.stats)
        )
        assert.deepStrictEqual([running, cancelled], [0, 450])
      }),
    { deliveries: { total: 1000, perEnv: 1000 } }
  )
})
