/** Child runs of durable functions, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Deliveries, Events, Tenants } from "@weft/core"
import { Effect } from "effect"
import { allRuns, asHost, deployed, publish, settle, world } from "../../world.ts"
import {
  callee,
  cancel,
  type Durable,
  described,
  durable,
  main,
  pass,
  runOf,
  runsNamed,
  settleAll
} from "./DurableWorld.ts"

describe("svc.invoke", () => {
  it.effect("resolves with the result of a child run, which runs once", () => {
    const done: Array<number> = []
    const double = (n: number) => {
      done.push(n)
      return { doubled: n * 2 }
    }
    const parent = durable("go", async (_, svc) => {
      const first = await svc.invoke("main/double", [3])
      await svc.sleep("pause", "1h")
      return [first, await svc.invoke("main/double", 4, { name: "second" })]
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id, stream_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("61 minutes")
      yield* settleAll
      const run = yield* runOf(env, event_id)
      assert.deepStrictEqual(run.result, [{ doubled: 6 }, { doubled: 8 }])
      assert.deepStrictEqual(done, [3, 4])
      const children = yield* runsNamed(env, "double")
      assert.deepStrictEqual(
        children.map((child) => `${child.origin_run_id} ${child.stream_id} ${child.run_type}`),
        [`${run.run_id} ${stream_id} call`, `${run.run_id} ${stream_id} call`]
      )
    }).pipe(Effect.provide(main({ double, parent })))
  })

  it.effect("suspends the parent until a durable child has ended, days later", () => {
    const child = callee(async (days: string, svc: Durable) => {
      await svc.sleep("long", days)
      return "rested"
    })
    const parent = durable("go", (_, svc) => svc.invoke("main/child", ["3d"], { name: "rest" }))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      assert.deepInclude((yield* runOf(env, event_id)).waiting, { for: "run", name: "rest", until: null })
      yield* pass("71 hours")
      yield* settleAll
      assert.strictEqual((yield* runOf(env, event_id)).status, "running")
      yield* pass("61 minutes")
      yield* settleAll
      assert.strictEqual((yield* runOf(env, event_id)).result, "rested")
    }).pipe(Effect.provide(main({ child, parent })))
  })

  it.effect("rejects with the error of the last attempt of a child", () => {
    let attempts = 0
    const flaky = Object.assign(
      () => {
        attempts++
        throw new RangeError(`attempt ${attempts}`)
      },
      { meta: { retry: { attempts: 3, delay: "10m" } } }
    )
    const parent = durable("go", (_, svc) => described(svc.invoke("main/flaky")))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      assert.strictEqual((yield* runOf(env, event_id)).status, "running")
      yield* pass("3 hours")
      yield* settleAll
      assert.deepStrictEqual((yield* runOf(env, event_id)).result, {
        ...{ name: "RangeError", message: "attempt 3", hasRun: true }
      })
    }).pipe(Effect.provide(main({ flaky, parent })))
  })

  it.effect("rejects for an unknown function, and beyond the depth of chains", () => {
    const unknown = durable("unknown", (_, svc) => described(svc.invoke("main/none")))
    const deeper = callee(async (n: number, svc: Durable) => {
      const inner = await described(svc.invoke("main/deeper", [n + 1]))
      return typeof inner === "number" ? inner : n
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan: "Free" }))
      yield* settle
      const { event_id } = yield* publish(env, "unknown")
      const chain = yield* asHost(
        env,
        Events.use((events) => events.publish({ type: "svc:call", data: { fn: "main/deeper", args: [0] } }))
      )
      for (let round = 0; round < 6; round++) yield* settleAll
      const { result } = yield* runOf(env, event_id)
      assert.deepInclude(result, { name: "BadRequest", hasRun: false })
      // The first call has the depth 0, so that five more runs are allowed.
      const runs = yield* runsNamed(env, "deeper")
      assert.deepStrictEqual([(yield* runOf(env, chain.event_id)).result, runs.length], [5, 6])
    }).pipe(
      Effect.provide(
        world(
          { shop: { main: { unknown, deeper } } },
          { plans: { Free: { requests_per_second: -1, max_chain_depth: 5 } } }
        )
      )
    )
  })

  it.effect("rejects after the timeout, and cancels the child", () => {
    const slow = callee((_: unknown, svc: Durable) => svc.sleep("long", "30d"))
    const parent = durable("go", async (_, svc) => {
      const error = await described(svc.invoke("main/slow", [], { timeout: "2h" }))
      await svc.sleep("pause", "1h")
      return error
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("121 minutes")
      yield* settleAll
      yield* pass("61 minutes")
      yield* settleAll
      assert.deepInclude((yield* runOf(env, event_id)).result, { name: "TimedOut" })
      assert.deepStrictEqual(
        (yield* runsNamed(env, "slow")).map(({ status }) => status),
        ["cancelled"]
      )
    }).pipe(Effect.provide(main({ slow, parent })))
  })

  const sleeper = callee((_: unknown, svc: Durable) => svc.sleep("long", "30d"))
  const waiting = durable("go", (_, svc) => described(svc.invoke("main/sleeper")))
  const nested = callee((_: unknown, svc: Durable) => svc.invoke("main/sleeper"))
  const outer = durable("outer", (_, svc) => svc.invoke("main/nested"))

  it.effect("rejects when the child is cancelled", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      const [child] = yield* runsNamed(env, "sleeper")
      yield* cancel(env, child?.run_id)
      yield* settleAll
      assert.deepInclude((yield* runOf(env, event_id)).result, { name: "Cancelled", hasRun: true })
    }).pipe(Effect.provide(main({ sleeper, waiting })))
  )

  it.effect("a cancelled parent cancels the children that it waits for, and theirs", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "outer")
      yield* settleAll
      assert.strictEqual((yield* runsNamed(env, "sleeper")).length, 1)
      yield* cancel(env, (yield* runOf(env, event_id)).run_id)
      yield* settleAll
      const all = yield* allRuns(env)
      assert.deepStrictEqual(
        all.map(({ status }) => status),
        ["cancelled", "cancelled", "cancelled"]
      )
    }).pipe(Effect.provide(main({ sleeper, nested, outer })))
  )

  it.effect("a parent that cleans up cancels the children that it waited for, at once", () => {
    const cleaning = durable("clean", async (_, svc) => {
      try {
        return await svc.invoke("main/sleeper")
      } finally {
        await svc.sleep("pause", "10s")
      }
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "clean")
      yield* settleAll
      yield* cancel(env, (yield* runOf(env, event_id)).run_id, "1m")
      yield* settleAll
      const statuses = Effect.gen(function* () {
        const [child] = yield* runsNamed(env, "sleeper")
        return [(yield* runOf(env, event_id)).status, child?.status]
      })
      assert.deepStrictEqual(yield* statuses, ["running", "cancelled"])
      yield* pass("10 seconds")
      yield* settleAll
      assert.deepStrictEqual(yield* statuses, ["cancelled", "cancelled"])
    }).pipe(Effect.provide(main({ sleeper, cleaning })))
  })

  it.effect("a parent that fails cancels the children that it waits for", () => {
    const failing = durable("fail", async (_, svc) => {
      await Promise.all([
        svc.invoke("main/sleeper"),
        svc.sleep("pause", "1h").then(() => {
          throw new Error("enough")
        })
      ])
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "fail")
      yield* settleAll
      yield* pass("61 minutes")
      yield* settleAll
      assert.strictEqual((yield* runOf(env, event_id)).status, "failed")
      assert.deepStrictEqual(
        (yield* runsNamed(env, "sleeper")).map(({ status }) => status),
        ["cancelled"]
      )
    }).pipe(Effect.provide(main({ sleeper, failing })))
  })

  it.effect("rejects when the delivery of the child is discarded before it began", () => {
    const one = Object.assign(() => new Promise(() => undefined), { meta: { concurrency: { limit: 1 } } })
    const parent = durable("go", (_, svc) => described(svc.invoke("main/one")))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* publish(env, "go")
      yield* settleAll
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      const discarded = yield* asHost(
        env,
        Deliveries.use((deliveries) => deliveries.cancel({ fn: "main/one" }))
      )
      assert.strictEqual(discarded, 1)
      yield* settleAll
      assert.deepInclude((yield* runOf(env, event_id)).result, { name: "Cancelled" })
      for (const { run_id } of yield* runsNamed(env, "one")) yield* cancel(env, run_id)
      yield* settle
    }).pipe(Effect.provide(main({ one, parent })))
  })

  it.effect("starts a hundred children side by side", () => {
    const square = (n: number) => n * n
    const parent = durable("go", (_, svc) =>
      Promise.all(Array.from({ length: 100 }, (__, n) => svc.invoke("main/square", [n])))
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      for (let round = 0; round < 6; round++) yield* settleAll
      const { result } = yield* runOf(env, event_id)
      assert.deepStrictEqual(
        result,
        Array.from({ length: 100 }, (_, n) => n * n)
      )
      assert.strictEqual((yield* runsNamed(env, "square")).length, 100)
    }).pipe(Effect.provide(main({ square, parent })))
  })
})
