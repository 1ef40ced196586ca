/** Limits of host functions: rate, concurrency, timeout and the end of the run. */
import { assert, describe, it } from "@effect/vitest"
import { hostEffect, hostFunction } from "@weft/core"
import { Effect, Fiber, type Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { pendingCallsMax } from "../../../../src/runtime/svc/host/PendingCallLimit.ts"
import { Rates } from "../../../../src/runtime/svc/host/Rates.ts"
import { makeRun } from "../Runs.ts"
import { makeFixture, settle, world } from "./HostCallFixture.ts"

const check = <E>(claim: string, body: Effect.Effect<void, E, Layer.Success<typeof world>>) =>
  it.effect(claim, () => Effect.provide(body, world))

const Any = Schema.Unknown

interface Open {
  readonly input: unknown
  readonly signal: AbortSignal
  readonly end: (value: unknown) => void
}

/** A function that runs until the test ends it. */
const makeGatedFunction = () => {
  const open: Array<Open> = []
  const fn = (input: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise<unknown>((end) => {
      open.push({ input, signal, end })
    })
  return { open, fn }
}

const settled = <A>(fibers: ReadonlyArray<Fiber.Fiber<A>>) =>
  fibers.filter((fiber) => fiber.pollUnsafe() !== undefined).length

describe("a rate", () => {
  check(
    "applies per environment: a full bucket at once, then refills over time",
    Effect.gen(function* () {
      const { invoke, env, calls } = yield* makeFixture({
        ping: hostFunction({ rate: { calls: 3, per: "6s" } }, () => null)
      })
      const limited = (ms: number) => ["LimitExceeded", `ping may be called again in ${ms} ms`]
      for (let run = 1; run <= 3; run++) assert.strictEqual(yield* invoke("ping", "", makeRun(env.env_id, run)), "")
      assert.deepStrictEqual(yield* invoke("ping", "", makeRun(env.env_id, 9)), limited(2000))
      yield* TestClock.adjust("1500 millis")
      assert.deepStrictEqual(yield* invoke("ping"), limited(500))
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* invoke("ping"), "")
      assert.deepStrictEqual(yield* invoke("ping"), limited(2000))

      const other = yield* makeFixture({}, "other")
      const elsewhere = calls.answer(makeRun(other.env.env_id), null, { op: "host.ping", payload: "" })
      assert.strictEqual(elsewhere === null ? null : yield* elsewhere, "")
    })
  )

  it("allows at most its calls per time, and the next one at the stated time", () => {
    const steps = fc.array(fc.record({ after: fc.integer({ min: 0, max: 5000 }), key: fc.constantFrom("a", "b") }))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 10_000 }), steps, (calls, perMs, all) => {
        const rates = new Rates({ calls, perMs })
        const granted = { a: [] as number[], b: [] as number[] }
        let now = 0
        for (const { after, key } of all) {
          now += after
          const waitMs = rates.take(key, now)
          now += waitMs
          if (waitMs > 0) assert.strictEqual(rates.take(key, now), 0)
          granted[key].push(now)
        }
        for (const times of [granted.a, granted.b]) {
          for (const [first, from] of times.entries()) {
            for (let last = first; last < times.length; last++) {
              const most = calls + (((times[last] ?? 0) - from) * calls) / perMs
              assert.isAtMost(last - first + 1, most + 1e-6)
            }
          }
        }
      })
    )
  })

  it("grants a call after the wait that it reported, whatever the fractions", () => {
    const rates = new Rates({ calls: 2, perMs: 5367 })
    let now = 0
    for (const [after, key] of [
      [0, "b"],
      [0, "b"],
      [824, "a"],
      [2321, "b"],
      [11, "a"],
      [11, "b"]
    ] as const) {
      now += after
      const waitMs = rates.take(key, now)
      now += waitMs
      if (waitMs > 0) assert.strictEqual(rates.take(key, now), 0)
    }
  })

  it("adds no tokens when the clock is set back", () => {
    const rates = new Rates({ calls: 1, perMs: 1000 })
    assert.strictEqual(rates.take("a", 5000), 0)
    assert.strictEqual(rates.take("a", 1000), 1000)
    assert.strictEqual(rates.take("a", 2000), 0)
  })
})

describe("concurrency", () => {
  check(
    "applies per run and per environment, and queues excess calls in order",
    Effect.gen(function* () {
      const { open, fn } = makeGatedFunction()
      const { invoke, env, metrics } = yield* makeFixture({
        slow: hostFunction({ input: Any, output: Any, concurrency: { run: 2, env: 3 } }, fn)
      })
      const fibers: Array<Fiber.Fiber<unknown>> = []
      for (const [run, input] of [
        [1, "a"],
        [1, "b"],
        [1, "c"],
        [2, "d"],
        [3, "e"]
      ] as const) {
        fibers.push(yield* Effect.forkChild(invoke("slow", JSON.stringify(input), makeRun(env.env_id, run))))
        yield* settle
      }
      const inputs = () => open.map(({ input }) => input).join("")
      assert.strictEqual(inputs(), "abd")
      open[0]?.end("first")
      yield* settle
      assert.strictEqual(settled(fibers), 1)
      // `e` was queued for its environment before `c` had a slot of its run.
      assert.strictEqual(inputs(), "abde")
      open[1]?.end(null)
      yield* settle
      assert.strictEqual(inputs(), "abdec")
      const running = (yield* metrics.read).find(({ name }) => name === "weft_host_calls_running")
      assert.deepInclude(running, { type: "gauge", value: 3, labels: { function: "slow" } })
      for (const { end } of open) end(null)
      yield* settle
      assert.strictEqual(settled(fibers), 5)
    })
  )

  check(
    "bounds the queued calls and the size of their inputs",
    Effect.gen(function* () {
      const { open, fn } = makeGatedFunction()
      const { invoke, calls, env } = yield* makeFixture({
        slow: hostFunction({ input: Any, concurrency: { run: 1 } }, fn)
      })
      const flood = Effect.fnUntraced(function* (count: number, payload: string, number: number) {
        const run = makeRun(env.env_id, number)
        const asking = Effect.forEach(Array.from({ length: count }), () => invoke("slow", payload, run), {
          concurrency: "unbounded"
        })
        const fiber = yield* Effect.forkChild(asking)
        yield* settle
        yield* calls.end(run)
        const names = (yield* Fiber.join(fiber)).map((end) => String(end).split(",")[0])
        open.at(-1)?.end(null)
        yield* settle
        return ["LimitExceeded", "RunEnded"].map((name) => names.filter((each) => each === name).length)
      })
      const large = JSON.stringify("x".repeat(1024 * 1024 - 10))
      assert.deepStrictEqual(yield* flood(20, large, 1), [4, 16])
      assert.deepStrictEqual(yield* flood(pendingCallsMax.calls + 5, "1", 2), [5, pendingCallsMax.calls])
      // All of it is released, and no queued call was executed.
      assert.deepStrictEqual(yield* flood(16, large, 3), [0, 16])
      assert.lengthOf(open, 3)
    })
  )
})

describe("a timeout", () => {
  check(
    "counts from the start of the call, aborts the signal, and holds the slot until the function ends",
    Effect.gen(function* () {
      const { open, fn } = makeGatedFunction()
      const { invoke, metrics } = yield* makeFixture({
        slow: hostFunction({ input: Any, timeout: "5s", concurrency: { run: 1 } }, fn)
      })
      const timedOut = ["TimedOut", "The host function slow took longer than 5000 ms"]
      const first = yield* Effect.forkChild(invoke("slow", '"a"'))
      yield* settle
      const second = yield* Effect.forkChild(invoke("slow", '"b"'))
      yield* settle
      yield* TestClock.adjust("4 seconds")
      assert.isFalse(open[0]?.signal.aborted)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(first), timedOut)
      yield* settle
      assert.isTrue(open[0]?.signal.aborted)
      yield* TestClock.adjust("10 seconds")
      yield* settle
      assert.lengthOf(open, 1)
      open[0]?.end("late")
      yield* settle
      assert.lengthOf(open, 2)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* Fiber.join(second), timedOut)
      open[1]?.end(null)
      yield* settle
      const series = yield* metrics.read
      const outcomes = series.filter(({ name }) => name === "weft_host_calls_total")
      assert.deepInclude(outcomes[0], { labels: { function: "slow", outcome: "timed_out" }, value: 2 })
      assert.lengthOf(outcomes, 1)
      const seconds = series.find(({ name }) => name === "weft_host_call_seconds")
      assert.deepInclude(seconds, { count: 2, sum: 20 })
    })
  )
})

describe("the end of a run", () => {
  check(
    "aborts running calls, removes queued calls, and waits for none",
    Effect.gen(function* () {
      const { open, fn } = makeGatedFunction()
      let interrupted = 0
      const effect = yield* hostEffect({}, () =>
        Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
      )
      const { invoke, calls, env, metrics } = yield* makeFixture({
        slow: hostFunction({ input: Any, concurrency: { run: 1 } }, fn),
        effect
      })
      const run = makeRun(env.env_id)
      const fibers = yield* Effect.forEach(["slow", "slow", "effect"], (name) =>
        Effect.forkChild(invoke(name, "1", run))
      )
      const spared = yield* Effect.forkChild(invoke("slow", "2", makeRun(env.env_id, 2)))
      yield* settle
      assert.lengthOf(open, 2)
      yield* calls.end(run)
      for (const fiber of fibers) assert.deepStrictEqual(yield* Fiber.join(fiber), ["RunEnded", "the run has ended"])
      yield* settle
      assert.deepStrictEqual(
        open.map(({ signal }) => signal.aborted),
        [true, false]
      )
      assert.strictEqual(interrupted, 1)
      open[1]?.end(null)
      assert.strictEqual(yield* Fiber.join(spared), "")
      open[0]?.end(null)
      yield* settle
      assert.lengthOf(open, 2)
      const ended = (yield* metrics.read).filter(({ labels }) => labels.outcome === "ended")
      assert.deepStrictEqual(
        ended.map((series) => [series.labels.function, "value" in series && series.value]),
        [
          ["slow", 2],
          ["effect", 1]
        ]
      )
      yield* calls.end(run)
    })
  )

  check(
    "releases everything of a call that the sandbox interrupted",
    Effect.gen(function* () {
      const { open, fn } = makeGatedFunction()
      const { invoke } = yield* makeFixture({ slow: hostFunction({ input: Any }, fn) })
      const call = yield* Effect.forkChild(invoke("slow", "1"))
      yield* settle
      yield* Fiber.interrupt(call)
      yield* settle
      assert.isTrue(open[0]?.signal.aborted)
      open[0]?.end(null)
    })
  )
})
