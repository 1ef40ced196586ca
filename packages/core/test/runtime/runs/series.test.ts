/** Counts and latencies of runs over time: their arithmetic, and nodes that count in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, EnvId, layer, RunControl, RunStatistics, type WeftServices } from "@weft/core"
import { LatencyHistogram, NodeId, ProjectId, SeriesStore, Timestamp } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { SeriesTally, toMinuteCounts } from "../../../src/runtime/journal/SeriesTally.ts"
import { at, withMeta } from "../../resources/schedules/Fixtures.ts"
import { allRuns, asHost, deployed, masterKeys, publish, settle } from "../../world.ts"

describe("a histogram of times", () => {
  it("answers percentiles within 5 %, also after it was stored and added up", () => {
    const [one, two] = [new LatencyHistogram(), new LatencyHistogram()]
    const times = Array.from({ length: 1000 }, (_, index) => Math.round(3 * 1.012 ** index))
    for (const [index, ms] of times.entries()) (index % 2 === 0 ? one : two).add(ms)
    const whole = new LatencyHistogram()
    whole.merge(one.encode())
    whole.addAll(two)
    for (const share of [0.01, 0.5, 0.95, 0.99, 1]) {
      const exact = times[Math.ceil(share * times.length) - 1] ?? 0
      assert.isBelow(Math.abs((whole.percentile(share) ?? 0) - exact) / exact, 0.05, `${share}`)
    }
  })

  it("has no percentile without a time, and 0 for times below 1 ms", () => {
    const times = new LatencyHistogram()
    assert.isNull(times.percentile(0.5))
    times.add(0)
    assert.strictEqual(times.percentile(0.99), 0)
    assert.strictEqual(times.encode(), "0:1")
  })
})

const node = NodeId.make("01970d40-1e50-7c37-ad4a-7e5b2c8f6408")
const fn = (name: string) => ({
  env_id: EnvId.make("01970d3c-6a10-7f02-8d0e-51f0a9b7e602"),
  project_id: ProjectId.make("01970d3c-7b20-7a63-b5cc-6de2c9a1f403"),
  project_name: "app",
  ns: "main",
  var: name
})

describe("a tally of runs", () => {
  const rows = (tally: SeriesTally) => tally.take().map((slot) => toMinuteCounts(slot, node))

  it("counts functions beyond the maximum in one row of the environment", () => {
    const tally = new SeriesTally({ perEnv: 2, functions: 10, unsaved: 10 })
    for (const name of ["a", "b", "c", "d", "a"]) tally.end(fn(name), "succeeded", false, 5, 0)
    assert.deepStrictEqual(
      rows(tally).map((row) => [row.project_id === null, row.var, row.succeeded]),
      [
        [false, "a", 2],
        [false, "b", 1],
        [true, "", 2]
      ]
    )
  })

  it("begins a row for each minute, returns whole counts again, and forgets a stored minute", () => {
    const tally = new SeriesTally()
    tally.end(fn("a"), "failed", true, 5, 59_000)
    assert.lengthOf(rows(tally), 1)
    tally.end(fn("a"), "failed", false, 5, 59_999)
    tally.end(fn("a"), "cancelled", false, null, 60_000)
    const [first, second] = rows(tally)
    assert.deepInclude(first, { at: Timestamp.make(0), failed: 2, retried: 1 })
    assert.deepInclude(second, { at: Timestamp.make(60_000), failed: 0, cancelled: 1, duration: "" })
    tally.forget(120_000)
    assert.isTrue(tally.isEmpty)
    tally.end(fn("a"), "succeeded", false, 1, 125_000)
    assert.deepStrictEqual(
      rows(tally).map((row) => row.at),
      [Timestamp.make(120_000)]
    )
  })

  it("returns rows again that could not be stored, and adds to the last minute while too many wait", () => {
    const tally = new SeriesTally({ perEnv: 10, functions: 10, unsaved: 2 })
    tally.end(fn("a"), "succeeded", false, 1, 0)
    tally.end(fn("a"), "succeeded", false, 1, 60_000)
    const taken = tally.take()
    tally.end(fn("a"), "succeeded", false, 1, 60_001)
    tally.restore(taken)
    tally.end(fn("a"), "succeeded", false, 1, 200_000)
    assert.deepStrictEqual(
      rows(tally).map((row) => [row.at, row.succeeded]),
      [
        [Timestamp.make(60_000), 3],
        [Timestamp.make(0), 1]
      ]
    )
  })
})

const modules = {
  app: {
    main: {
      job: withMeta({ event: "job" }, () => "done"),
      fails: withMeta({ event: "fail", retry: { attempts: 2, delay: "1s" } }, () => {
        throw new Error("no")
      }),
      hangs: withMeta({ event: "hang" }, () => new Promise(() => undefined))
    }
  }
}

const startNode = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const build = Layer.fresh(Layer.provide(layer({ masterKeys }), trustedSandbox(modules)))
  const context = yield* Layer.buildWithScope(build, scope)
  return {
    on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, context),
    stop: Scope.close(scope, Exit.void)
  }
})

const series = (env: Env, query: Parameters<RunStatistics["Service"]["series"]>[0] = {}) =>
  asHost(
    env,
    RunStatistics.use((statistics) => statistics.series(query))
  )

const begin = at("2026-03-01T10:00:05Z")

const check = <E>(claim: string, body: Effect.Effect<void, E, Layer.Success<typeof MemoryStores.layer>>) =>
  it.effect(claim, () => Effect.andThen(begin, Effect.provide(body, MemoryStores.layer)))

describe("nodes", () => {
  check(
    "count ended runs by function, minute and outcome, and add up",
    Effect.gen(function* () {
      const [one, two] = [yield* startNode, yield* startNode]
      const env = yield* one.on(deployed("app"))
      for (const { on } of [one, two, one]) yield* on(publish(env, "job"))
      yield* one.on(publish(env, "fail"))
      yield* two.on(publish(env, "hang"))
      yield* settle
      yield* TestClock.adjust("2 seconds")
      yield* settle
      const hanging = (yield* one.on(allRuns(env))).find(({ status }) => status === "running")
      yield* one.on(
        asHost(
          env,
          RunControl.use((control) => control.cancel(hanging?.run_id ?? ""))
        )
      )
      yield* TestClock.adjust("10 seconds")
      yield* settle
      const found = yield* two.on(series(env))
      assert.strictEqual(found.step_seconds, 60)
      const totals = found.series.map(({ var: name, total }) => [
        name,
        ...[total.succeeded, total.failed, total.cancelled, total.retried]
      ])
      assert.sameDeepMembers(totals, [
        ["job", 3, 0, 0, 0],
        ["fails", 0, 2, 0, 1],
        ["hangs", 0, 0, 1, 0]
      ])
      const [jobs] = (yield* two.on(series(env, { fn: "app:main/job" }))).series
      assert.lengthOf(jobs?.points ?? [], 1)
      assert.isNotNull(jobs?.total.wait)
      assert.isNotNull(jobs?.total.duration)
      yield* Effect.forEach([one, two], ({ stop }) => stop)
    })
  )

  check(
    "store their counts when they shut down, and nothing while no run ends",
    Effect.gen(function* () {
      const one = yield* startNode
      const env = yield* one.on(deployed("app"))
      yield* one.on(publish(env, "job"))
      yield* settle
      yield* one.stop
      const rows = yield* SeriesStore.use((store) =>
        store.read(env.env_id, { from: Timestamp.make(0), to: Timestamp.make(Date.parse("2027-01-01")) }, null, 10)
      )
      assert.deepStrictEqual(
        rows.map(({ succeeded }) => succeeded),
        [1]
      )
    })
  )

  check(
    "refuse periods and steps that are too long",
    Effect.gen(function* () {
      const one = yield* startNode
      const env = yield* one.on(deployed("app"))
      const refuse = (query: Parameters<typeof series>[1]) => Effect.flip(one.on(series(env, query)))
      const now = Date.parse("2026-03-01T10:00:05Z")
      const from = Timestamp.make(now - 26 * 3_600_000)
      assert.match((yield* refuse({ from, stepMs: 60_000 })).message, /more than 1500/)
      assert.match((yield* refuse({ stepMs: 90_000 })).message, /whole minutes/)
      assert.match((yield* refuse({ from: Timestamp.make(now), to: from })).message, /before/)
      assert.strictEqual((yield* refuse({ fn: "gone:main/job" }))._tag, "NotFound")
      assert.strictEqual((yield* one.on(series(env, { from }))).step_seconds, 900)
      yield* one.stop
    })
  )
})
