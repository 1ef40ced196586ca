/** Child runs of durable functions, and runs that continue as new ones, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Deliveries, type Env, Events, RunControl, Tenants } from "@weft/core"
import { RunId } from "@weft/core/adapter"
import type { TrustedModule } from "@weft/core/testing"
import { type Duration, Effect, Fiber, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, publish, runsOf, settle, world } from "../../world.ts"

interface Durable {
  readonly step: <A>(name: string, body: () => A | Promise<A>) => Promise<A>
  readonly sleep: (name: string, duration: Schema.Json) => Promise<void>
  readonly waitForEvent: (name: string, wait: Schema.Json) => Promise<unknown>
  readonly invoke: <A>(
    fn: string,
    args?: unknown,
    options?: { readonly name?: string; readonly timeout?: string }
  ) => Promise<A>
  readonly call: (fn: string, args?: unknown) => Promise<{ readonly event_id: string; readonly stream_id: string }>
  readonly version: (id: string, max: number) => Promise<number>
  readonly continueAsNew: (args?: unknown) => Promise<never>
}

type DurableFunction = (event: Readonly<Record<string, unknown>>, svc: Durable) => unknown

const durable = (event: string, fn: DurableFunction, meta = {}) =>
  Object.assign(fn, { meta: { event, durable: true, ...meta } })

/** A durable function that is called by its name. */
const callee = (fn: (...args: ReadonlyArray<never>) => unknown, meta = {}) =>
  Object.assign(fn, { meta: { durable: true, ...meta } })

const main = (functions: TrustedModule[string]) => world({ shop: { main: functions } })

const pass = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settle)

const settleAll = Effect.gen(function* () {
  for (let turn = 0; turn < 6; turn++) yield* settle
})

/** Returns the last run of an event. */
const runOf = Effect.fnUntraced(function* (env: Env, eventId: string) {
  const [run] = yield* runsOf(env, eventId)
  return { ...run, waiting: JSON.parse(run?.waiting ?? "null"), result: JSON.parse(run?.result ?? "null") }
})

const runsNamed = (env: Env, name: string) => Effect.map(allRuns(env), (all) => all.filter((run) => run.var === name))

const cancel = (env: Env, runId = "") =>
  asHost(
    env,
    RunControl.use((control) => control.cancel(runId))
  )

const described = async (attempt: Promise<unknown>) => {
  try {
    return await attempt
  } catch (error) {
    if (!(error instanceof Error)) return "no error"
    const { name, message, cause } = error
    return { name, message, hasRun: typeof cause === "object" && cause !== null && "run_id" in cause }
  }
}

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
      for (let round = 0; round < 40; round++) yield* settle
      const { result } = yield* runOf(env, event_id)
      assert.deepInclude(result, { name: "BadRequest", hasRun: false })
      // The first call has the depth 0, so that five more runs are allowed.
      const runs = yield* runsNamed(env, "deeper")
      assert.deepStrictEqual([(yield* runOf(env, chain.event_id)).result, runs.length], [5, 6])
    }).pipe(Effect.provide(world({ shop: { main: { unknown, deeper } } }, { plans: { Free: { requests_per_second: -1, max_chain_depth: 5 } } })))
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
      for (let round = 0; round < 20; round++) yield* settle
      const { result } = yield* runOf(env, event_id)
      assert.deepStrictEqual(
        result,
        Array.from({ length: 100 }, (_, n) => n * n)
      )
      assert.strictEqual((yield* runsNamed(env, "square")).length, 100)
    }).pipe(Effect.provide(main({ square, parent })))
  })
})

describe("svc.call of a durable function", () => {
  it.effect("publishes once, and returns the same ids in each replay", () => {
    const ids: Array<string> = []
    const job = () => "done"
    const parent = durable("go", async (_, svc) => {
      const { event_id } = await svc.call("main/job", ["a"])
      ids.push(event_id)
      await svc.sleep("pause", "1h")
      return event_id
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("61 minutes")
      yield* settleAll
      const { result } = yield* runOf(env, event_id)
      assert.deepStrictEqual(ids, [result, result])
      assert.deepStrictEqual(
        (yield* runsNamed(env, "job")).map((run) => run.event_id),
        [result]
      )
    }).pipe(Effect.provide(main({ job, parent })))
  })

  it.effect("records that the call was refused", () => {
    const parent = durable("go", async (_, svc) => {
      const error = await described(svc.call("main/none"))
      await svc.sleep("pause", "1h")
      return error
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("61 minutes")
      assert.deepInclude((yield* runOf(env, event_id)).result, { name: "BadRequest" })
    }).pipe(Effect.provide(main({ parent })))
  })
})

describe("svc.version", () => {
  it.effect("records the number of new runs, and is the same in each replay", () => {
    const seen: Array<number> = []
    const parent = durable("go", async (_, svc) => {
      const [a, again, b] = [await svc.version("a", 2), await svc.version("a", 3), await svc.version("b", 1)]
      seen.push(a, again, b)
      await svc.sleep("pause", "1h")
      return svc.version("c", 7)
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("61 minutes")
      yield* settleAll
      assert.strictEqual((yield* runOf(env, event_id)).result, 7)
      assert.deepStrictEqual(seen, [2, 2, 1, 2, 2, 1])
    }).pipe(Effect.provide(main({ parent })))
  })
})

describe("svc.continueAsNew", () => {
  it.effect("polls a thousand rounds, each with a history of its own", () => {
    const poll = callee(async (round: number, svc: Durable) => {
      await svc.step("poll", () => round)
      await svc.sleep("pause", "1h")
      return round === 1000 ? "done" : svc.continueAsNew([round + 1])
    })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* asHost(
        env,
        Events.use((events) => events.publish({ type: "svc:call", data: { fn: "main/poll", args: [1] } }))
      )
      yield* settle
      let last = (yield* allRuns(env))[0]
      for (let round = 0; round < 1005; round++) {
        yield* TestClock.adjust("1 hour")
        yield* settle
      }
      last = (yield* allRuns(env))[0]
      assert.deepStrictEqual([last?.status, last?.result], ["succeeded", '"done"'])
      const all = yield* allRuns(env)
      assert.isTrue(all.slice(0, 50).every((run, index) => run.origin_run_id === all[index + 1]?.run_id))
      assert.deepStrictEqual(Object.keys(JSON.parse(all[1]?.result ?? "{}")), ["continued"])
    }).pipe(Effect.provide(main({ poll })))
  }, 60_000)

  it.effect("keeps the stream, and is followed by a parent that waits", () => {
    const chain = callee(async (n: number, svc: Durable) => {
      await svc.sleep("pause", "1h")
      return n === 3 ? { last: n } : svc.continueAsNew([n + 1])
    })
    const parent = durable("go", (_, svc) => svc.invoke("main/chain", [1]))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id, stream_id } = yield* publish(env, "go")
      yield* settleAll
      for (let round = 0; round < 4; round++) {
        yield* pass("61 minutes")
        yield* settleAll
      }
      assert.deepStrictEqual((yield* runOf(env, event_id)).result, { last: 3 })
      const runs = yield* runsNamed(env, "chain")
      assert.deepStrictEqual(
        runs.map((run) => run.stream_id),
        [stream_id, stream_id, stream_id]
      )
    }).pipe(Effect.provide(main({ chain, parent })))
  })

  it.effect("a cancelled parent cancels the last run of a child that continued", () => {
    const chain = callee(async (n: number, svc: Durable) => {
      await svc.sleep("pause", n === 1 ? "1h" : "30d")
      return svc.continueAsNew([n + 1])
    })
    const parent = durable("go", (_, svc) => svc.invoke("main/chain", [1]))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("61 minutes")
      yield* settleAll
      yield* cancel(env, (yield* runOf(env, event_id)).run_id)
      yield* settleAll
      assert.deepStrictEqual(
        (yield* runsNamed(env, "chain")).map(({ status }) => status),
        ["cancelled", "succeeded"]
      )
    }).pipe(Effect.provide(main({ chain, parent })))
  })
})

describe("a replay from a step", () => {
  const done: Array<string> = []
  const order = durable("go", async (_, svc) => {
    const step = (name: string) =>
      svc.step(name, () => {
        done.push(name)
        return name
      })
    const first = await step("reserve")
    await svc.sleep("pause", "1h")
    const later = [await step("charge"), await step("ship"), await step("charge")]
    return [first, ...later]
  })

  const replay = (env: Env, runId: string, from: string) =>
    asHost(
      env,
      RunControl.use((control) => control.replay(runId, "same", from))
    )

  it.effect("keeps the results before it, and repeats the others", () =>
    Effect.gen(function* () {
      done.length = 0
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("61 minutes")
      yield* settleAll
      const { run_id = "", result } = yield* runOf(env, event_id)
      assert.deepStrictEqual(done, ["reserve", "charge", "ship", "charge"])
      for (const [from, repeated] of [
        ["charge", ["charge", "ship", "charge"]],
        ["3", ["ship", "charge"]]
      ] as const) {
        done.length = 0
        const replaying = yield* Effect.forkChild(replay(env, run_id, from))
        yield* settleAll
        const { run } = yield* Fiber.join(replaying)
        const [latest] = yield* allRuns(env)
        assert.deepStrictEqual(done, [...repeated])
        assert.deepStrictEqual(
          [latest?.run_id, latest?.origin_run_id, latest?.status, latest?.run_type],
          [run?.run_id, RunId.make(run_id), "succeeded", "run"]
        )
        assert.deepStrictEqual(JSON.parse(latest?.result ?? ""), result)
      }
    }).pipe(Effect.provide(main({ order })))
  )

  it.effect("fails for unknown steps, running runs, and functions that are not durable", () => {
    const plain = Object.assign(() => 1, { meta: { event: "plain" } })
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const going = yield* publish(env, "go")
      const other = yield* publish(env, "plain")
      yield* settleAll
      const reason = Effect.fnUntraced(function* (eventId: string, from: string) {
        const { run_id = "" } = yield* runOf(env, eventId)
        return String((yield* Effect.flip(replay(env, run_id, from))).message)
      })
      assert.include(yield* reason(going.event_id, "charge"), "from: the run has not ended")
      assert.include(yield* reason(other.event_id, "charge"), "from: the run is not durable")
      yield* pass("61 minutes")
      yield* settleAll
      assert.include(yield* reason(going.event_id, "none"), 'from: the run has no step or wait with the name or position "none"')
    }).pipe(Effect.provide(main({ order, plain })))
  })
})
