/** Flow control of functions, from their `meta` to their runs. */
import { assert, describe, it } from "@effect/vitest"
import { type Env, Events, type NewEvent } from "@weft/core"
import { NodeMetrics } from "@weft/core/adapter"
import type { TrustedFunction } from "@weft/core/testing"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, settle, world } from "../../world.ts"
import { endAll, never } from "../control/PendingRuns.ts"
import { durable } from "../workflows/DurableWorld.ts"

const on = (meta: object): TrustedFunction =>
  Object.assign((event: { readonly event_data: unknown }) => event.event_data, { meta })

const undo = { event: ["undo"], match: "event.data.id", if: "event.data.wanted" }

const modules = {
  shop: {
    main: {
      large: on({ event: "order", if: "event.data.total > 100" }),
      soon: on({ event: "soon", ttl: "1m", throttle: { limit: 1, period: "2m" } }),
      once: on({ event: "once", dedupe: { key: "event.data.id", window: "10s" } }),
      limited: on({ event: "limited", rateLimit: { limit: 2, period: "1m", key: "event.data.customer" } }),
      newest: Object.assign(
        (event: { readonly event_data: { readonly wait: boolean } }) =>
          event.event_data.wait ? never() : event.event_data,
        { meta: { event: "newest", singleton: { key: "event.data.id", mode: "cancel" } } }
      ),
      ordered: Object.assign(never, {
        meta: { event: "ordered", concurrency: { limit: 2 }, cancelOn: undo }
      }),
      sleeps: durable("ordered", (_, svc) => svc.sleep("nap", "1h"), { cancelOn: undo }),
      spaced: on({ event: "spaced", singleton: { mode: "cancel" }, throttle: { limit: 1, period: "1m" } }),
      slow: on({ event: "slow", throttle: { limit: 2, period: "1m" } }),
      urgent: on({ event: "urgent", priority: "event.data.seconds", throttle: { limit: 1, period: "1m" } }),
      last: on({ event: "last", debounce: { period: "10s", max: "25s", key: "event.data.id" } })
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_800_000_000_000)
      yield* Effect.provide(Effect.ensuring(Effect.flatMap(deployed("shop"), body), endAll), world(modules))
    })
  )

const publish = (env: Env, event: NewEvent) =>
  asHost(
    env,
    Events.use((events) => events.publish(event))
  )

/** Publishes events one after the other. */
const publishAll = (env: Env, type: string, all: ReadonlyArray<NewEvent["data"]>) =>
  Effect.forEach(all, (data) => publish(env, { type, data }), { discard: true })

const results = (env: Env) =>
  Effect.map(Effect.andThen(settle, allRuns(env)), (runs) => runs.map(({ result }) => String(result)).reverse())

const metric = (name: string) =>
  Effect.map(
    NodeMetrics.use((metrics) => metrics.read),
    (all) => all.flatMap((series) => (series.name === name && "value" in series ? [series.value] : []))
  )

describe("a condition", () => {
  check("selects the events of a handler", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "order", [{ total: 99 }, { total: 101 }, { total: 100.5 }])
      assert.deepStrictEqual(yield* results(env), ['{"total":101}', '{"total":100.5}'])
    })
  )

  check("without a value is false and counted", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "order", [{}, null, { total: "many" }])
      assert.deepStrictEqual(yield* results(env), [])
      assert.deepStrictEqual(yield* metric("weft_expression_errors_total"), [3, 0, 0])
    })
  )

  check("counts no runs for events that it does not select", (env) =>
    Effect.gen(function* () {
      const event = yield* publish(env, { type: "order", data: { total: 1 } })
      assert.strictEqual(event.event_type, "order")
      assert.deepStrictEqual(yield* metric("weft_deliveries_dropped_total"), [0])
    })
  )
})

describe("a ttl", () => {
  check("ends a run that cannot start in time as cancelled, with the reason", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "soon", [1, 2])
      assert.deepStrictEqual(yield* results(env), ["1"])
      yield* TestClock.adjust(120_000)
      yield* settle
      const [late] = yield* allRuns(env)
      assert.deepStrictEqual(
        [late?.status, String(late?.result)],
        [
          "cancelled",
          '{"error":{"name":"Expired","message":"The run did not start within its ttl of 60000 ms","stack":""}}'
        ]
      )
      // It has not used a start of the throttle.
      yield* publish(env, { type: "soon", data: 3 })
      assert.include(yield* results(env), "3")
    })
  )
})

describe("a dedupe", () => {
  check("handles one event per value in its window, and every event without a value", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "once", [{ id: 1 }, { id: 1 }, { id: "1" }, { id: null }, { id: null }])
      assert.deepStrictEqual(yield* results(env), ['{"id":1}', '{"id":"1"}', '{"id":null}', '{"id":null}'])
      assert.deepStrictEqual(yield* metric("weft_deliveries_dropped_total"), [1])
      yield* TestClock.adjust(10_000)
      yield* publish(env, { type: "once", data: { id: 1 } })
      assert.strictEqual((yield* results(env)).length, 5)
    })
  )
})

describe("a rate limit", () => {
  check("drops events beyond the limit of their key", (env) =>
    Effect.gen(function* () {
      const events = ["a", "a", "b", "a", "b", "b"].map((customer, n) => ({ customer, n }))
      yield* publishAll(env, "limited", events)
      assert.deepStrictEqual(
        (yield* results(env)).map((text) => JSON.parse(text).n),
        [0, 1, 2, 4]
      )
    })
  )
})

describe("a singleton that cancels", () => {
  const statuses = (env: Env) =>
    Effect.map(allRuns(env), (runs) => runs.map(({ status, result }) => [status, String(result)]).reverse())

  check("cancels the active run of the key for a newer event, and no other", (env) =>
    Effect.gen(function* () {
      const stopped =
        '{"error":{"name":"Cancelled","message":"A newer event with the same key cancelled the run","stack":""}}'
      yield* publishAll(env, "newest", [{ id: 1, wait: true }])
      yield* settle
      yield* publishAll(env, "newest", [
        { id: 2, wait: true },
        { id: 1, wait: false }
      ])
      yield* settle
      assert.deepStrictEqual(yield* statuses(env), [
        ["cancelled", stopped],
        ["running", "null"],
        ["succeeded", '{"id":1,"wait":false}']
      ])
    })
  )

  check("removes a pending delivery, and counts it", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "spaced", [1])
      assert.deepStrictEqual(yield* results(env), ["1"])
      yield* publishAll(env, "spaced", [2, 3])
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(yield* results(env), ["1", "3"])
      assert.deepStrictEqual(yield* metric("weft_deliveries_dropped_total"), [1])
    })
  )
})

describe("cancelOn", () => {
  check("cancels pending, active and suspended runs of earlier events with the same value", (env) =>
    Effect.gen(function* () {
      const before = [{ id: 1 }, { id: 2 }, { id: 1 }]
      yield* publishAll(env, "ordered", before)
      yield* settle
      yield* publishAll(env, "undo", [{ id: 1, wanted: false }])
      yield* settle
      assert.strictEqual((yield* allRuns(env)).filter(({ status }) => status === "cancelled").length, 0)
      const { event_id } = yield* publish(env, { type: "undo", data: { id: 1, wanted: true } })
      yield* publishAll(env, "ordered", [{ id: 1 }])
      yield* settle
      const runs = (yield* allRuns(env)).filter((run) => run.var === "ordered")
      assert.deepStrictEqual(runs.map(({ status }) => status).reverse(), ["cancelled", "running", "running"])
      assert.include(String(runs.at(-1)?.result), `The event ${event_id} of the type undo cancelled the run`)
      assert.deepStrictEqual(yield* metric("weft_deliveries_dropped_total"), [1])
      const sleeps = (yield* allRuns(env)).filter((run) => run.var === "sleeps")
      assert.deepStrictEqual(sleeps.map(({ status }) => status).reverse(), [
        "cancelled",
        "running",
        "cancelled",
        "running"
      ])
    })
  )

  check("that an event has no value for cancels nothing", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "ordered", [{ id: null }, {}])
      yield* publishAll(env, "undo", [{ id: null, wanted: true }])
      yield* settle
      assert.isTrue((yield* allRuns(env)).every(({ status }) => status !== "cancelled"))
    })
  )
})

describe("a throttle", () => {
  check("starts the runs beyond the limit later, in their order", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "slow", [1, 2, 3, 4, 5])
      assert.deepStrictEqual(yield* results(env), ["1", "2"])
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(yield* results(env), ["1", "2", "3", "4"])
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(yield* results(env), ["1", "2", "3", "4", "5"])
    })
  )
})

describe("a priority", () => {
  const order = (env: Env) => Effect.map(results(env), (all) => all.map((text) => JSON.parse(text).n))

  const startAll = (env: Env) =>
    Effect.andThen(
      Effect.forEach([1, 2, 3], () => Effect.andThen(settle, TestClock.adjust(60_000)), { discard: true }),
      order(env)
    )

  check("starts runs before those of events that came at most that many seconds earlier", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "urgent", [{ n: 1 }, { n: 2 }])
      yield* TestClock.adjust(30_000)
      yield* publishAll(env, "urgent", [
        { n: 3, seconds: 29 },
        { n: 4, seconds: 31 }
      ])
      assert.deepStrictEqual(yield* startAll(env), [1, 4, 2, 3])
    })
  )

  check("is at most an hour, and 0 without a number", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "urgent", [{ n: 1 }, { n: 2, seconds: 3_600.5 }])
      yield* TestClock.adjust(1_000)
      yield* publishAll(env, "urgent", [
        { n: 3, seconds: 4_000_000 },
        { n: 4, seconds: "9" }
      ])
      assert.deepStrictEqual(yield* startAll(env), [1, 2, 3, 4])
      assert.deepStrictEqual(yield* metric("weft_expression_errors_total"), [0, 0, 2])
    })
  )

  check("does not start a delayed event before its time", (env) =>
    Effect.gen(function* () {
      yield* publish(env, { type: "urgent", data: { n: 1, seconds: 60 }, delay: "30s" })
      yield* TestClock.adjust(29_000)
      assert.deepStrictEqual(yield* order(env), [])
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(yield* order(env), [1])
    })
  )
})

describe("a debounce", () => {
  check("handles the last of several events, at the latest after its maximum", (env) =>
    Effect.gen(function* () {
      for (let n = 0; n < 4; n++) {
        yield* publish(env, { type: "last", data: { id: "a", n } })
        yield* TestClock.adjust(8_000)
      }
      yield* settle
      // The fourth event came at 24 s, and the first one at 0 s.
      assert.deepStrictEqual(yield* results(env), ['{"id":"a","n":3}'])
      yield* publish(env, { type: "last", data: { id: "a", n: 4 } })
      yield* TestClock.adjust(9_000)
      assert.strictEqual((yield* results(env)).length, 1)
      yield* TestClock.adjust(1_000)
      assert.strictEqual((yield* results(env)).length, 2)
    })
  )
})
