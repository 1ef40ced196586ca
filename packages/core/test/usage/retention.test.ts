import { assert, describe, it } from "@effect/vitest"
import {
  type Env,
  Events,
  firstPage,
  JournalStore,
  layer,
  MemoryStores,
  OrgUsages,
  Runs,
  Tenants,
  type TrustedFunction,
  trustedSandbox
} from "@weft/core"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, masterKeys, publish, settle } from "../world.ts"

const modules = {
  shop: { main: { one: Object.assign((() => 1) satisfies TrustedFunction, { meta: { event: "one" } }) } }
}

/** A Weft whose plan Free keeps runs for a day, and which purges at most `most` at once; what it was asked to purge. */
const scene = (most = Number.POSITIVE_INFINITY) => {
  const asked: Array<number> = []
  const counted = Layer.effect(
    JournalStore,
    Effect.map(JournalStore, (store) => ({
      ...store,
      purge: (...[env, before, limit]: Parameters<typeof store.purge>) => {
        asked.push(limit)
        return store.purge(env, before, Math.min(limit, most))
      }
    }))
  )
  const weft = layer({ masterKeys, plans: { Free: { call_retention_days: 1 } } }).pipe(
    Layer.provideMerge(counted),
    Layer.provideMerge(MemoryStores.layer),
    Layer.provide(trustedSandbox(modules))
  )
  return { asked, weft }
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

describe("runs older than the plan keeps them", () => {
  const { weft } = scene()
  it.effect("go within the hour, with their counts; their events stay", () =>
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
  it.effect("go sooner where the host keeps none for so long, whatever the plan says", () =>
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

  const patient = scene()
  it.effect("stay where the plan keeps all, which is not even asked for", () =>
    Effect.gen(function* () {
      const env = yield* onPlan("Enterprise")
      yield* publishMany(env, 3)
      yield* pass(30)
      assert.strictEqual((yield* allRuns(env)).length, 3)
      assert.deepStrictEqual(patient.asked, [])
    }).pipe(Effect.provide(patient.weft))
  )

  const slow = scene(2)
  it.effect("go in steps of 500 at most, until there are none", () =>
    Effect.gen(function* () {
      const env = yield* onPlan("Free")
      yield* publishMany(env, 5)
      yield* pass(26)
      assert.strictEqual((yield* allRuns(env)).length, 0)
      assert.isAbove(slow.asked.length, 3)
      for (const limit of slow.asked) assert.isAtMost(limit, 500)
    }).pipe(Effect.provide(slow.weft))
  )
})
