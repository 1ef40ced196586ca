/** Calls and versions of durable functions, runs that continue as new ones, and replays from a step, with virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, Events, layer, RunControl } from "@weft/core"
import { JournalStore, RunId } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Fiber, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, immediateTurns, masterKeys, publish, settle } from "../../world.ts"
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

  it.effect("fails in the place of another request, without a call", () => {
    let activations = 0
    const job = () => "done"
    const parent = durable("go", (_, svc) =>
      ++activations === 1 ? svc.sleep("pause", "1h") : svc.call("main/job", ["a"])
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "go")
      yield* settleAll
      yield* pass("61 minutes")
      yield* settleAll
      const { result } = yield* runOf(env, event_id)
      assert.deepInclude(result.error, {
        name: "NonDeterminism",
        message: 'request 0 was sleep "pause" when it was recorded and is call "main/job" now'
      })
      assert.deepStrictEqual(yield* runsNamed(env, "job"), [])
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

describe("svc.version before a cancellation that is being recorded", () => {
  it.effect("is cancelled with the other requests, in each replay, and the cleanup asks again", () => {
    const seen: Array<unknown> = []
    const order = durable("order", async (_, svc) => {
      await svc.step("first", () => 1)
      const first = await svc.version("form", 2).catch((error: Error) => error.name)
      seen.push(first, await svc.version("form", 2))
      await svc.sleep("pause", "10s")
    })
    const progress = Latch.makeUnsafe(false)
    const slow = Layer.effect(
      JournalStore,
      JournalStore.useSync((store) => ({
        ...store,
        commit: (entries, lease) => {
          const isProgress = entries.some(({ _tag }) => _tag === "Advanced")
          return Effect.andThen(isProgress ? progress.await : Effect.void, store.commit(entries, lease))
        }
      }))
    )
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "order")
      yield* settleAll
      yield* cancel(env, (yield* runOf(env, event_id)).run_id, "1m")
      yield* settleAll
      yield* progress.open
      yield* settleAll
      assert.deepStrictEqual(seen, ["Cancelled", 2])
      assert.deepInclude((yield* runOf(env, event_id)).waiting, { for: "timer", name: "pause" })
      yield* pass("10 seconds")
      yield* settleAll
      assert.deepStrictEqual(seen, ["Cancelled", 2, "Cancelled", 2])
      assert.strictEqual((yield* runOf(env, event_id)).status, "cancelled")
    }).pipe(
      Effect.provide(
        layer({ masterKeys }).pipe(
          Layer.provideMerge(Layer.provideMerge(slow, MemoryStores.layer)),
          Layer.provide([trustedSandbox({ shop: { main: { order } } }), immediateTurns])
        )
      )
    )
  })
})

describe("svc.continueAsNew", () => {
  it.effect(
    "polls a thousand rounds, each with a history of its own",
    () => {
      const poll = callee(async (round: number, svc: Durable) => {
        await svc.step("poll", () => round)
        await svc.sleep("pause", "1m")
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
        for (let round = 0; round < 1500 && last?.result !== '"done"'; round++) {
          yield* TestClock.adjust("1 minute")
          yield* settle
          last = (yield* allRuns(env))[0]
        }
        assert.deepStrictEqual([last?.status, last?.result], ["succeeded", '"done"'])
        const all = yield* allRuns(env)
        assert.isTrue(all.slice(0, 50).every((run, index) => run.origin_run_id === all[index + 1]?.run_id))
        assert.deepStrictEqual(Object.keys(JSON.parse(all[1]?.result ?? "{}")), ["continued"])
      }).pipe(Effect.provide(main({ poll })))
    },
    60_000
  )

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
      assert.include(
        yield* reason(going.event_id, "none"),
        'from: the run has no step or wait with the name or position "none"'
      )
    }).pipe(Effect.provide(main({ order, plain })))
  })
})
