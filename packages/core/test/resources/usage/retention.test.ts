import { assert, describe, it } from "@effect/vitest"
import { type Env, Events, firstPage, layer, OrgUsages, Runs, Tenants } from "@weft/core"
import { JournalStore } from "@weft/core/adapter"
import { MemoryStores, type TrustedFunction, trustedSandbox } from "@weft/core/testing"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, masterKeys, publish, settle } from "../../world.ts"

const one = (() => 1) satisfies TrustedFunction

const main = { one: Object.assign(one, { meta: { event: "one" } }) }

const modules = { shop: { main } }

const retaining = {
  shop: {
    main: {
      ...main,
      brief: Object.assign((() => 2) satisfies TrustedFunction, { meta: { event: "brief", retention: "2h" } }),
      long: Object.assign((() => 3) satisfies TrustedFunction, { meta: { event: "long", retention: "30h" } })
    }
  }
}

/** An instance whose plan Free keeps runs for a day and which purges at most `most` at once. Records its purges. */
const setUp = (most = Number.POSITIVE_INFINITY, exports = modules) => {
  const purges: Array<number> = []
  const counted = Layer.effect(
    JournalStore,
    Effect.map(JournalStore, (store) => ({
      ...store,
      purge: (...[env, before, limit, of]: Parameters<typeof store.purge>) => {
        purges.push(limit)
        return store.purge(env, before, Math.min(limit, most), of)
      }
    }))
  )
  const weft = layer({ masterKeys, plans: { Free: { call_retention_days: 1 } } }).pipe(
    Layer.provideMerge(counted),
    Layer.provideMerge(MemoryStores.layer),
    Layer.provide(trustedSandbox(exports))
  )
  return { purges, weft }
}

const onPlan = Effect.fnUntraced(function* (plan: string) {
  const env = yield* deployed("shop", plan.toLowerCase())
  yield* Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan }))
  yield* settle
  return env
})

const publishMany = (env: Env, count: number) =>
  Effect.andThen(Effect.replicateEffect(publish(env, "one"), count), settle)

const pass = (hours: number) => Effect.andThen(TestClock.adjust(hours * 3_600_000), settle)

describe("runs older than the plan's retention", () => {
  const { weft } = setUp()
  it.effect("are removed within an hour, with their counts, but without their events", () =>
    Effect.gen(function* () {
      const env = yield* onPlan("Free")
      yield* publishMany(env, 3)
      yield* pass(12)
      const young = yield* publish(env, "one")
      yield* pass(11)
      assert.strictEqual((yield* allRuns(env)).length, 4)
      yield* pass(2)
      const kept = yield* allRuns(env)
      assert.deepStrictEqual(
        kept.map((run) => run.event_id),
        [young.event_id]
      )
      const [events, stats, { usage }] = yield* asHost(
        env,
        Effect.all([
          Events.use((service) => service.list(firstPage)),
          Runs.use((runs) => runs.stats),
          OrgUsages.use((usages) => usages.get)
        ])
      )
      assert.deepStrictEqual([events.total, stats.total_runs], [4, 1])
      const { call_count, runs_this_period, call_storage_bytes } = usage
      assert.deepStrictEqual([call_count, runs_this_period, call_storage_bytes], [1, 4, 1])
    }).pipe(Effect.provide(weft))
  )

  const short = layer({ masterKeys, retentionMs: 600_000 }).pipe(
    Layer.provideMerge(MemoryStores.layer),
    Layer.provide(trustedSandbox(modules))
  )
  it.effect("are removed earlier if the host's retention is shorter", () =>
    Effect.gen(function* () {
      for (const plan of ["Free", "Self-Host"]) {
        const env = yield* onPlan(plan)
        yield* publishMany(env, 3)
        yield* pass(0.15)
        assert.strictEqual((yield* allRuns(env)).length, 3)
        yield* pass(0.1)
        assert.deepStrictEqual(yield* allRuns(env), [])
      }
    }).pipe(Effect.provide(short))
  )

  const ofFunctions = setUp(Number.POSITIVE_INFINITY, retaining)
  it.effect("are removed earlier if their function has a shorter retention, and never later than the plan says", () =>
    Effect.gen(function* () {
      const envs = [yield* onPlan("Enterprise"), yield* onPlan("Free")]
      for (const env of envs) for (const type of ["one", "brief", "long"]) yield* publish(env, type)
      yield* settle
      const functions = Effect.forEach(envs, (env) =>
        Effect.map(allRuns(env), (runs) => runs.map((run) => run.var).sort())
      )
      yield* pass(1.5)
      assert.deepStrictEqual(yield* functions, [
        ["brief", "long", "one"],
        ["brief", "long", "one"]
      ])
      yield* pass(2)
      assert.deepStrictEqual(yield* functions, [
        ["long", "one"],
        ["long", "one"]
      ])
      yield* pass(28)
      assert.deepStrictEqual(yield* functions, [["one"], []])
    }).pipe(Effect.provide(ofFunctions.weft))
  )

  const withoutRetention = setUp()
  it.effect("are kept without queries if the plan keeps all", () =>
    Effect.gen(function* () {
      const env = yield* onPlan("Enterprise")
      yield* publishMany(env, 3)
      yield* pass(30)
      assert.strictEqual((yield* allRuns(env)).length, 3)
      assert.deepStrictEqual(withoutRetention.purges, [])
    }).pipe(Effect.provide(withoutRetention.weft))
  )

  const slow = setUp(2)
  it.effect("are removed in batches of at most 500", () =>
    Effect.gen(function* () {
      const env = yield* onPlan("Free")
      yield* publishMany(env, 5)
      yield* pass(26)
      assert.strictEqual((yield* allRuns(env)).length, 0)
      assert.isAbove(slow.purges.length, 3)
      for (const limit of slow.purges) assert.isAtMost(limit, 500)
    }).pipe(Effect.provide(slow.weft))
  )
})
