/** Schedules with concurrent, crashed, restarted and disconnected nodes, and with quotas, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { layer, StoreUnavailable, Tenants, type WeftServices } from "@weft/core"
import { ClusterBus, ScheduleStore, TickStore } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Clock, Effect, Exit, Layer, PubSub, Scope } from "effect"
import { TestClock } from "effect/testing"
import { deployed, masterKeys, settle } from "../../world.ts"
import { at, create, echo, redeploy, scheduled, ticking, times } from "./Fixtures.ts"

const start = "2026-03-01T10:00:30Z"
const modules = {
  app: ticking("* * * * *"),
  daily: ticking("2 10 * * *"),
  many: ticking("* * * * *", "*/2 * * * *", "30 * * * * *", { cron: "* * * * *", timezone: "Europe/Oslo" }),
  bare: { main: { echo } }
}

type Config = Parameters<typeof layer>[0]
type Stores = Layer.Success<typeof MemoryStores.layer>

/** A test on stores that outlive the nodes. */
const check = <E>(claim: string, body: Effect.Effect<void, E, Stores>) =>
  it.effect(claim, () => Effect.andThen(at(start), Effect.provide(body, MemoryStores.layer)))

/** Full minutes after 10 o'clock. */
const minutes = (...numbers: ReadonlyArray<number>) =>
  numbers.map((n) => new Date(Date.UTC(2026, 2, 1, 10, n)).toISOString())

/** Starts a node on the stores, some of them changed. `on` runs effects on it. */
const startNode = Effect.fnUntraced(function* (
  config: Partial<Config> = {},
  changed: Layer.Layer<never, never, Stores> = Layer.empty
) {
  const scope = yield* Scope.make()
  const node = layer({ masterKeys, ...config }).pipe(Layer.provide([trustedSandbox(modules), changed]))
  const context = yield* Layer.buildWithScope(Layer.fresh(node), scope)
  return {
    on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, context),
    die: Scope.close(scope, Exit.void)
  }
})

const unavailable = Effect.fail(new StoreUnavailable({ operation: "fire", cause: null }))

describe("nodes on one store", () => {
  check(
    "fire each tick once, and run it once",
    Effect.gen(function* () {
      const nodes = [yield* startNode(), yield* startNode(), yield* startNode()] as const
      const env = yield* nodes[0].on(deployed("many"))
      for (const seconds of [30, 1, 29, 30, 30]) yield* TestClock.adjust(`${seconds} seconds`)
      yield* settle
      const fired = yield* nodes[1].on(times(env))
      const every = [...minutes(1, 1, 2, 2, 2), "2026-03-01T10:01:30.000Z", "2026-03-01T10:02:30.000Z"]
      assert.deepStrictEqual([...fired].sort(), every.sort())
      const runs = yield* nodes[2].on(scheduled(env))
      assert.strictEqual(runs.length, every.length)
      assert.strictEqual(new Set(runs.map((run) => run.event_id)).size, every.length)
      yield* Effect.forEach(nodes, ({ die }) => die)
    })
  )

  check(
    "fire schedules that other nodes deployed or created",
    Effect.gen(function* () {
      const one = yield* startNode()
      const two = yield* startNode()
      const env = yield* one.on(deployed("bare"))
      yield* one.on(create(env, { fn: "main/echo", schedule: "PT1M" }))
      yield* one.on(redeploy(env, "bare", "app"))
      yield* one.on(redeploy(env, "bare", "bare"))
      yield* one.die
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* two.on(scheduled(env))).length, 1)
      yield* two.die
    })
  )

  check(
    "fire at most a minute late if the message was lost",
    Effect.gen(function* () {
      const withoutMessages = Layer.effect(
        ClusterBus,
        Effect.gen(function* () {
          const bus = yield* ClusterBus
          return { ...bus, news: Effect.flatMap(PubSub.unbounded<never>(), PubSub.subscribe) }
        })
      )
      const one = yield* startNode()
      const env = yield* one.on(deployed("bare"))
      const two = yield* startNode({}, withoutMessages)
      yield* TestClock.adjust("10 seconds")
      yield* one.on(create(env, { fn: "main/echo", schedule: "PT5S" }))
      yield* one.die
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* two.on(scheduled(env))).length, 1)
      yield* two.die
    })
  )
})

describe("a node that restarts", () => {
  /** Returns the ticks that fired during and after an outage of all nodes. */
  const runOutage = (key: string, duration: `${number} minutes`) =>
    Effect.gen(function* () {
      const one = yield* startNode()
      const env = yield* one.on(deployed(key))
      yield* TestClock.adjust("45 seconds")
      yield* settle
      yield* one.die
      yield* TestClock.adjust(duration)
      const two = yield* startNode()
      yield* TestClock.adjust("20 seconds")
      yield* settle
      const fired = yield* two.on(times(env))
      yield* two.die
      return fired
    })

  check(
    "fires the latest missed tick once, and continues",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* runOutage("app", "200 minutes"), minutes(1, 201))
    })
  )

  check(
    "does not fire a tick that it missed by an hour or more",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* runOutage("daily", "61 minutes"), [])
    })
  )

  check(
    "fires a tick that it missed by less",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* runOutage("daily", "59 minutes"), minutes(2))
    })
  )

  check(
    "runs a delivery that another node created before it crashed",
    Effect.gen(function* () {
      const one = yield* startNode({ deliveries: { total: 0, perEnv: 0 } })
      const env = yield* one.on(deployed("app"))
      yield* TestClock.adjust("45 seconds")
      assert.deepStrictEqual(yield* one.on(scheduled(env)), [])
      assert.deepStrictEqual(yield* one.on(times(env)), minutes(1))
      yield* one.die
      const two = yield* startNode()
      assert.strictEqual((yield* two.on(scheduled(env))).length, 1)
      yield* two.die
    })
  )
})

describe("an unavailable store", () => {
  check(
    "delays a tick, and neither loses nor duplicates it",
    Effect.gen(function* () {
      let failures = 0
      const flaky = Layer.effect(
        TickStore,
        Effect.map(TickStore, (store) => ({
          fire: (ticks: Parameters<typeof store.fire>[0]) =>
            Effect.suspend(() => {
              failures++
              if (failures <= 2) return unavailable
              // Stored, but the response is lost.
              return failures === 3 ? Effect.andThen(store.fire(ticks), unavailable) : store.fire(ticks)
            })
        }))
      )
      const one = yield* startNode({}, flaky)
      const env = yield* one.on(deployed("app"))
      yield* TestClock.adjust("10 minutes")
      yield* settle
      assert.deepStrictEqual(yield* one.on(times(env)), minutes(1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
      assert.strictEqual((yield* one.on(scheduled(env))).length, 10)
      yield* one.die
    })
  )

  check(
    "is rarely polled while nothing is due",
    Effect.gen(function* () {
      let polls = 0
      const count = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.suspend(() => {
          polls++
          return effect
        })
      const counting = Layer.effect(
        ScheduleStore,
        Effect.map(ScheduleStore, (store) => ({
          ...store,
          due: (...args: Parameters<typeof store.due>) => count(store.due(...args)),
          nextDueAt: count(store.nextDueAt)
        }))
      )
      const one = yield* startNode({}, counting)
      const env = yield* one.on(deployed("bare"))
      yield* one.on(create(env, { fn: "main/echo", schedule: "P1D" }))
      yield* settle
      polls = 0
      yield* TestClock.adjust("20 minutes")
      assert.isAtMost(polls, 2 * 21)
      yield* one.die
    })
  )
})

describe("an environment with a thousand due schedules", () => {
  check(
    "delays the tick of another environment by two batches at most",
    Effect.gen(function* () {
      const batchMs = 200
      const fired: Array<{ readonly env_id: string; readonly at: number }> = []
      const slow = Layer.effect(
        TickStore,
        Effect.map(TickStore, (store) => ({
          ...store,
          fire: (ticks: Parameters<typeof store.fire>[0]) =>
            Effect.gen(function* () {
              yield* Effect.sleep(batchMs)
              const now = yield* Clock.currentTimeMillis
              for (const { schedule } of ticks) fired.push({ env_id: schedule.env_id, at: now })
              return yield* store.fire(ticks)
            })
        }))
      )
      const one = yield* startNode({}, slow)
      const flooding = yield* one.on(deployed("bare"))
      const innocent = yield* one.on(deployed("bare", "innocent"))
      for (let n = 0; n < 1_000; n++) {
        yield* one.on(create(flooding, { fn: "main/echo", args: [n], schedule: "2026-03-01T10:05:00Z" }))
      }
      yield* one.on(create(innocent, { fn: "main/echo", schedule: "2026-03-01T10:05:01Z" }))
      yield* TestClock.setTime(Date.parse("2026-03-01T10:04:59Z"))
      for (let step = 0; step < 200; step++) {
        yield* TestClock.adjust("100 millis")
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      assert.strictEqual(fired.length, 1_001)
      const tick = fired.find(({ env_id }) => env_id === innocent.env_id)
      assert.isAtMost((tick?.at ?? 0) - Date.parse("2026-03-01T10:05:01Z"), 2 * batchMs + 200)
      yield* one.die
    })
  )
})

describe("a schedule that cannot be read", () => {
  check(
    "does not prevent others from firing",
    Effect.gen(function* () {
      const broken = Layer.effect(
        ScheduleStore,
        Effect.map(ScheduleStore, (store) => ({
          ...store,
          due: (...args: Parameters<typeof store.due>) =>
            Effect.map(store.due(...args), (due) =>
              due.map((schedule) => (schedule.timezone === "UTC" ? schedule : { ...schedule, cron: "not a cron" }))
            )
        }))
      )
      const one = yield* startNode({}, broken)
      const env = yield* one.on(deployed("many"))
      yield* TestClock.adjust("2 minutes")
      yield* settle
      const fired = yield* one.on(times(env))
      const every = [...minutes(1, 2, 2), "2026-03-01T10:01:30.000Z", "2026-03-01T10:02:30.000Z"]
      assert.deepStrictEqual([...fired].sort(), every.sort())
      yield* one.die
    })
  )
})

describe("a plan whose quota of runs is used up", () => {
  check(
    "defers its ticks, and fires them as one when it allows them",
    Effect.gen(function* () {
      const plans = { Free: { requests_per_second: -1, runs_per_month: 2, call_storage_bytes: -1 } }
      const one = yield* startNode({ plans })
      const env = yield* one.on(deployed("app"))
      const other = yield* one.on(deployed("app", "other"))
      yield* one.on(Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan: "Free" })))
      yield* one.on(create(env, { fn: "main/echo", args: ["once"], schedule: "2026-03-01T10:03:30Z" }))
      yield* TestClock.adjust("10 minutes")
      yield* settle
      assert.deepStrictEqual(yield* one.on(times(env)), minutes(1, 2))
      assert.strictEqual((yield* one.on(times(other))).length, 10)
      yield* one.on(Tenants.use((tenants) => tenants.updateOrg(env.org_id, { plan: "Self-Host" })))
      yield* TestClock.adjust("1 minute")
      yield* settle
      const fired = yield* one.on(times(env))
      assert.strictEqual(fired.length, 4)
      assert.isTrue(fired.includes("2026-03-01T10:03:30.000Z"))
      const results = (yield* one.on(scheduled(env))).map((run) => run.result)
      assert.includeMembers(results, ['["once"]'])
      yield* one.die
    })
  )
})
