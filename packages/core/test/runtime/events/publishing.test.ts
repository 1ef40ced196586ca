/** Delayed and idempotent publications. */
import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { Events, type NewEvent } from "@weft/core"
import { iso, now } from "@weft/core/adapter"
import type { TrustedFunction } from "@weft/core/testing"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, runsOf, settle, world } from "../../world.ts"

const handler = (meta: object, fn: (...args: ReadonlyArray<never>) => unknown): TrustedFunction =>
  Object.assign(fn, { meta })

interface Svc {
  readonly events: { readonly publish: (event: object) => Promise<{ readonly event_id: string }> }
}

const modules = {
  shop: {
    main: {
      job: handler({ event: "job" }, (event: { event_data: unknown }) => event.event_data),
      charge: handler({ event: "paid", idempotency: "order.id" }, () => "charged"),
      mail: handler({ event: "paid" }, () => "mailed"),
      serial: handler({ event: "serial", concurrency: { limit: 1 }, idempotency: "id" }, () => "done"),
      remind: handler({ event: "remind" }, (_event: unknown, svc: Svc) =>
        svc.events.publish({ type: "job", data: "later", delay: "2h" })
      ),
      hasty: handler({ event: "hasty" }, (_event: unknown, svc: Svc) =>
        svc.events.publish({ type: "job", data: 1, delay: "soon" })
      )
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_800_000_000_000)
      yield* Effect.provide(Effect.flatMap(deployed("shop"), body), world(modules))
    })
  )

const publish = (env: Env, event: NewEvent) =>
  asHost(
    env,
    Events.use((events) => events.publish(event))
  )

const refusal = (env: Env, event: NewEvent) => Effect.map(Effect.flip(publish(env, event)), ({ message }) => message)

const resultsOf = (env: Env, eventId: string) =>
  Effect.map(runsOf(env, eventId), (runs) => runs.map((run) => String(run.result)).sort())

const total = (env: Env) =>
  Effect.map(
    asHost(
      env,
      Events.use((events) => events.list({ limit: 1, offset: 0 }))
    ),
    (page) => page.total
  )

const hour = 3_600_000

describe("a delayed event", () => {
  check("is stored at once, and handled at its time", (env) =>
    Effect.gen(function* () {
      const published = yield* now
      const event = yield* publish(env, { type: "job", data: 7, delay: "1h" })
      assert.deepStrictEqual([event.created_at, event.event_time], [published, published + hour])
      yield* settle
      yield* TestClock.adjust(hour - 1000)
      yield* settle
      assert.deepStrictEqual(yield* runsOf(env, event.event_id), [])
      yield* TestClock.adjust(1000)
      yield* settle
      const [run] = yield* runsOf(env, event.event_id)
      assert.deepStrictEqual([run?.status, String(run?.result)], ["succeeded", "7"])
      assert.isAtLeast(run?.start_time ?? 0, event.event_time)
      assert.isAtMost(run?.start_time ?? 0, event.event_time + 1000)
    })
  )

  check("accepts an instant in any time zone; a past instant means now", (env) =>
    Effect.gen(function* () {
      const instant = yield* now
      const later = yield* publish(env, { type: "job", data: 1, deliver_at: "2027-01-15T10:00:00.5+01:00" })
      assert.strictEqual(iso(later.event_time), "2027-01-15T09:00:00.500Z")
      const past = yield* publish(env, { type: "job", data: 2, deliver_at: "2020-01-01T00:00:00Z" })
      assert.strictEqual(past.event_time, instant)
      yield* settle
      assert.deepStrictEqual(yield* resultsOf(env, past.event_id), ["2"])
      assert.deepStrictEqual(yield* resultsOf(env, later.event_id), [])
    })
  )

  check("does not delay later events", (env) =>
    Effect.gen(function* () {
      yield* publish(env, { type: "job", data: 1, delay: "30d" })
      const event = yield* publish(env, { type: "job", data: 2 })
      yield* settle
      assert.deepStrictEqual(yield* resultsOf(env, event.event_id), ["2"])
    })
  )

  check("is rejected if its delay is invalid, negative, more than 365 days, or given twice", (env) =>
    Effect.gen(function* () {
      for (const delay of ["soon", "", -1, Number.NaN, "-5s"]) {
        assert.include(yield* refusal(env, { type: "job", data: 1, delay }), "delay must be a duration")
      }
      assert.include(yield* refusal(env, { type: "job", data: 1, delay: "366d" }), "at most 365 days")
      for (const deliver_at of ["tomorrow", "", "2027-01-15", "2027-01-15T10:00:00", "2027-13-01T00:00:00Z"]) {
        assert.include(yield* refusal(env, { type: "job", data: 1, deliver_at }), "deliver_at must be an ISO 8601")
      }
      assert.include(
        yield* refusal(env, { type: "job", data: 1, deliver_at: "2099-01-01T00:00:00Z" }),
        "at most 365 days"
      )
      const both = { delay: "1s", deliver_at: "2027-01-15T10:00:00Z" }
      assert.include(yield* refusal(env, { type: "job", data: 1, ...both }), "either delay or deliver_at")
      assert.strictEqual(yield* total(env), 0)
    })
  )

  check("can be published by guest code, which receives errors of its delay", (env) =>
    Effect.gen(function* () {
      yield* publish(env, { type: "remind", data: null })
      const hasty = yield* publish(env, { type: "hasty", data: null })
      yield* settle
      assert.include((yield* resultsOf(env, hasty.event_id)).join(), "delay must be a duration")
      yield* TestClock.adjust(2 * hour)
      yield* settle
      assert.include(
        (yield* allRuns(env)).map((run) => String(run.result)),
        '"later"'
      )
    })
  )
})

describe("a handler with idempotency", () => {
  check("handles one event per value in 24 hours; other handlers handle all", (env) =>
    Effect.gen(function* () {
      const results: Array<ReadonlyArray<string>> = []
      for (const [id, wait] of [
        ["a", 0],
        ["a", 0],
        ["b", 0],
        ["a", 24 * hour - 2000],
        ["a", 2000]
      ] as const) {
        yield* TestClock.adjust(wait)
        const event = yield* publish(env, { type: "paid", data: { order: { id } } })
        yield* settle
        results.push(yield* resultsOf(env, event.event_id))
      }
      const [both, one] = [['"charged"', '"mailed"'], ['"mailed"']]
      assert.deepStrictEqual(results, [both, one, both, one, both])
    })
  )

  check("distinguishes values by type, and handles every event without a value", (env) =>
    Effect.gen(function* () {
      const charged = Effect.fnUntraced(function* (data: NewEvent["data"]) {
        const event = yield* publish(env, { type: "paid", data })
        yield* settle
        return (yield* resultsOf(env, event.event_id)).includes('"charged"')
      })
      const long = "x".repeat(100_000)
      const distinct = [1, "1", true, "true", [1], { n: 1 }, "", 0, false, long, `${long}y`]
      for (const id of distinct) assert.isTrue(yield* charged({ order: { id } }), String(id).slice(0, 10))
      for (const id of distinct) assert.isFalse(yield* charged({ order: { id } }), String(id).slice(0, 10))
      for (let time = 0; time < 2; time++) {
        for (const data of [null, "text", {}, { order: {} }, { order: { id: null } }, { order: [] }]) {
          assert.isTrue(yield* charged(data))
        }
      }
    })
  )

  check("can be combined with concurrency and delay", (env) =>
    Effect.gen(function* () {
      for (const id of [1, 2, 1, 3]) yield* publish(env, { type: "serial", data: { id }, delay: "1m" })
      yield* TestClock.adjust("1 minute")
      for (let round = 0; round < 5; round++) yield* settle
      const runs = yield* allRuns(env)
      assert.deepStrictEqual(
        runs.map((run) => run.status),
        ["succeeded", "succeeded", "succeeded"]
      )
    })
  )
})

describe("a request with an idempotency key", () => {
  const request: NewEvent = { type: "job", data: { n: 1 }, idempotencyKey: "order-17" }

  check("publishes once; a repeated request returns the same event", (env) =>
    Effect.gen(function* () {
      const first = yield* publish(env, request)
      yield* settle
      yield* TestClock.adjust(24 * hour - 5000)
      assert.deepStrictEqual(yield* publish(env, request), first)
      yield* settle
      assert.strictEqual((yield* runsOf(env, first.event_id)).length, 1)
      assert.strictEqual(yield* total(env), 1)
      yield* TestClock.adjust(5000)
      assert.notStrictEqual((yield* publish(env, request)).event_id, first.event_id)
    })
  )

  check("publishes once for many concurrent requests", (env) =>
    Effect.gen(function* () {
      const events = yield* Effect.forEach(
        Array.from({ length: 10 }, () => request),
        (one) => publish(env, one),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(events.map((event) => event.event_id)).size, 1)
      assert.strictEqual(yield* total(env), 1)
    })
  )

  check("is rejected if a different request used the key", (env) =>
    Effect.gen(function* () {
      yield* publish(env, request)
      const stream_id = "01890000-0000-7000-8000-000000000001"
      for (const other of [{ data: { n: 2 } }, { type: "jobs" }, { stream_id }, { delay: 5 }]) {
        assert.include(yield* refusal(env, { ...request, ...other }), "another request")
      }
      assert.strictEqual(yield* total(env), 1)
    })
  )

  check("has a key per environment of 1 to 255 visible characters", (env) =>
    Effect.gen(function* () {
      const other = yield* deployed("shop", "other")
      const [mine, theirs] = [yield* publish(env, request), yield* publish(other, request)]
      assert.notStrictEqual(mine.event_id, theirs.event_id)
      for (const idempotencyKey of ["", "x".repeat(256), "a b", "é", "a\u0000", "a\n"]) {
        assert.include(yield* refusal(env, { ...request, idempotencyKey }), "Idempotency-Key must be")
      }
      yield* publish(env, { ...request, idempotencyKey: "~".repeat(255) })
    })
  )
})

describe("a plan that is used up", () => {
  it.effect("rejects new requests, but returns the event of a repeated one", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const request: NewEvent = { type: "job", data: 1, idempotencyKey: "k" }
      const first = yield* publish(env, request)
      yield* settle
      yield* TestClock.adjust("1 minute")
      assert.include(yield* refusal(env, { type: "job", data: 1 }), "used up")
      assert.deepStrictEqual(yield* publish(env, request), first)
    }).pipe(Effect.provide(world(modules, { plans: { "Self-Host": { runs_per_month: 1 } } })))
  )
})
