/**
 * Contract of flow control: the rules of `AdmissionStore`, and the throttles of claims. Adapters run this suite.
 *
 * Concurrent transactions stand for many nodes. Each decision counts exactly once.
 */
import { assert } from "@effect/vitest"
import { AdmissionStore, type Delivery, type FlowRule } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { batchChecks } from "./BatchChecks.ts"
import { type Check, check, suite } from "./Check.ts"
import { flowCancellationChecks } from "./FlowCancellationChecks.ts"
import { admit, admitMany, claim, dedupe, endAll, type FlowStores, ids, idsOf, one } from "./FlowSamples.ts"
import { at } from "./Samples.ts"

export const flowContract = <E>(adapter: string, layer: Layer.Layer<FlowStores, E>): void =>
  suite(`Flow control contract: ${adapter}`, flowChecks, layer)

const twice: FlowRule = { _tag: "RateLimit", key: "r", limit: 2, period_ms: 100 }
const debounced: FlowRule = { _tag: "Debounce", key: "b", period_ms: 100, max_ms: null }
const singleton: FlowRule = { _tag: "Singleton" }

const drops: ReadonlyArray<Check<FlowStores>> = [
  check("a dedupe stores the first delivery of a key until its window ends", function* () {
    assert.isTrue(yield* admit(1, [dedupe]))
    assert.isFalse(yield* admit(2, [dedupe], { now: 99 }))
    assert.isTrue(yield* admit(3, [{ ...dedupe, key: "other" }], { now: 99 }))
    assert.isTrue(yield* admit(4, [dedupe], { now: 99, env: 2 }))
    assert.isTrue(yield* admit(5, [dedupe], { now: 100 }))
    assert.isFalse(yield* admit(6, [dedupe], { now: 150 }))
  }),

  check("a dedupe stores one of many concurrent deliveries", function* () {
    assert.strictEqual(yield* admitMany([dedupe]), 1)
  }),

  check("a rate stores at most its limit within any period", function* () {
    const stored: Array<boolean> = []
    for (const [n, now] of [0, 10, 20, 99, 100, 105, 110, 150, 200].entries()) {
      stored.push(yield* admit(n + 1, [twice], { now }))
    }
    assert.deepStrictEqual(stored, [true, true, false, false, true, false, true, false, true])
  }),

  check("a rate counts each key of each environment alone", function* () {
    yield* admit(1, [twice])
    yield* admit(2, [twice])
    assert.isFalse(yield* admit(3, [twice]))
    assert.isTrue(yield* admit(4, [{ ...twice, key: "other" }]))
    assert.isTrue(yield* admit(5, [twice], { env: 2 }))
  }),

  check("a rate stores exactly its limit of many concurrent deliveries", function* () {
    assert.strictEqual(yield* admitMany([{ ...twice, limit: 7 }]), 7)
  }),

  check("a rate allows the next delivery although the clock of its node is behind", function* () {
    assert.isTrue(yield* admit(1, [twice], { now: 50 }))
    assert.isTrue(yield* admit(2, [twice], { now: 45 }))
    assert.isFalse(yield* admit(3, [twice], { now: 149 }))
    assert.isTrue(yield* admit(4, [twice], { now: 150 }))
  }),

  check("a dropped delivery does not count for the rules before the one that dropped it", function* () {
    yield* admit(1, [twice])
    yield* admit(2, [twice])
    assert.isFalse(yield* admit(3, [dedupe, twice]))
    assert.isTrue(yield* admit(4, [dedupe]))
  }),

  check("a singleton drops deliveries while one is pending or running", function* () {
    assert.isTrue(yield* admit(1, [singleton], { fields: one }))
    assert.isFalse(yield* admit(2, [singleton], { fields: one }))
    const running = yield* claim(10)
    assert.deepStrictEqual(idsOf(running), ids(1))
    assert.isFalse(yield* admit(3, [singleton], { now: 10, fields: one }))
    assert.isTrue(yield* admit(4, [singleton], { now: 10, fields: { group: { key: "other", limit: 1 } } }))
    yield* endAll(running, 20)
    assert.isTrue(yield* admit(5, [singleton], { now: 20, fields: one }))
  }),

  check("a singleton stores one of many concurrent deliveries", function* () {
    assert.strictEqual(yield* admitMany([singleton], one), 1)
  }),

  check("forget removes states that have expired, and no others", function* () {
    const store = yield* AdmissionStore
    yield* admit(1, [dedupe])
    yield* admit(2, [{ ...dedupe, key: "long", window_ms: 500 }])
    assert.strictEqual(yield* store.forget(at(99), 10), 0)
    assert.strictEqual(yield* store.forget(at(100), 10), 1)
    assert.isFalse(yield* admit(3, [{ ...dedupe, key: "long", window_ms: 500 }], { now: 499 }))
  })
]

const debounces: ReadonlyArray<Check<FlowStores>> = [
  check("a debounce replaces the pending delivery, which is due a period after the last one", function* () {
    yield* admit(1, [debounced])
    yield* admit(2, [debounced], { now: 60 })
    yield* admit(3, [debounced], { now: 120 })
    const early = yield* claim(219)
    assert.deepStrictEqual([idsOf(early), early.next_due_at], [[], at(220)])
    assert.deepStrictEqual(idsOf(yield* claim(220)), ids(3))
  }),

  check("a debounce with a maximum is due at the latest that long after its first delivery", function* () {
    const rule: FlowRule = { ...debounced, max_ms: 150 }
    yield* admit(1, [rule])
    yield* admit(2, [rule], { now: 90 })
    yield* admit(3, [rule], { now: 140 })
    assert.deepStrictEqual(idsOf(yield* claim(149)), [])
    assert.deepStrictEqual(idsOf(yield* claim(150)), ids(3))
  }),

  check("a debounce begins again after its delivery was claimed", function* () {
    const rule: FlowRule = { ...debounced, max_ms: 150 }
    yield* admit(1, [rule])
    assert.deepStrictEqual(idsOf(yield* claim(100)), ids(1))
    yield* admit(2, [rule], { now: 120 })
    assert.deepStrictEqual(idsOf(yield* claim(219)), [])
    assert.deepStrictEqual(idsOf(yield* claim(220)), ids(2))
  }),

  check("a debounce keeps one of many concurrent deliveries", function* () {
    assert.strictEqual(yield* admitMany([debounced]), 20)
    assert.strictEqual((yield* claim(100)).claims.length, 1)
  }),

  check("a debounce counts each key alone", function* () {
    yield* admit(1, [debounced])
    yield* admit(2, [{ ...debounced, key: "other" }])
    yield* admit(3, [debounced], { env: 2 })
    assert.deepStrictEqual(idsOf(yield* claim(100)), ids(1, 2, 3))
  })
]

/** Stores deliveries `from` to `to` with a throttle of two starts in 100 ms. */
const throttled = (from: number, to: number, now = 0, fields: Partial<Delivery> = {}) =>
  Effect.forEach(
    Array.from({ length: to - from + 1 }, (_, index) => from + index),
    (n) => admit(n, [], { now, fields: { throttle: { key: "t", limit: 2, period_ms: 100 }, ...fields } }),
    { discard: true }
  )

const throttles: ReadonlyArray<Check<FlowStores>> = [
  check("a claim starts no more deliveries of a throttle within any period, the oldest first", function* () {
    yield* throttled(1, 5)
    const first = yield* claim(0)
    assert.deepStrictEqual([idsOf(first), first.parked, first.next_due_at], [ids(1, 2), 3, at(100)])
    assert.deepStrictEqual(idsOf(yield* claim(99)), [])
    const second = yield* claim(100)
    assert.deepStrictEqual([idsOf(second), second.next_due_at], [ids(3, 4), at(200)])
    assert.deepStrictEqual(idsOf(yield* claim(200)), ids(5))
  }),

  check("a throttle holds although many deliveries became due during an outage", function* () {
    yield* throttled(1, 6)
    assert.deepStrictEqual(idsOf(yield* claim(0)), ids(1, 2))
    assert.deepStrictEqual(idsOf(yield* claim(5_000)), ids(3, 4))
    assert.deepStrictEqual(idsOf(yield* claim(5_099)), [])
    assert.deepStrictEqual(idsOf(yield* claim(5_100)), ids(5, 6))
  }),

  check("a throttle holds for many nodes that claim at once", function* () {
    yield* throttled(1, 20)
    const results = yield* Effect.forEach([1, 2, 3, 4, 5], (node) => claim(0, node), { concurrency: "unbounded" })
    // A node may postpone deliveries that another one had locked, but never starts too many.
    assert.strictEqual(results.flatMap(idsOf).length, 2)
  }),

  check("a throttle counts each key of each environment alone", function* () {
    yield* throttled(1, 3)
    yield* throttled(4, 4, 0, { throttle: { key: "other", limit: 1, period_ms: 100 } })
    yield* admit(5, [], { env: 2, fields: { throttle: { key: "t", limit: 2, period_ms: 100 } } })
    yield* admit(6, [])
    assert.deepStrictEqual(idsOf(yield* claim(0)), ids(1, 2, 4, 5, 6))
  }),

  check("a claim returns the ttl and the throttle of a delivery", function* () {
    const terms = { ttl_ms: 5_000, throttle: { key: "t", limit: 2, period_ms: 100 } }
    yield* admit(1, [], { fields: terms })
    const [claimed] = (yield* claim(0)).claims
    assert.deepInclude(claimed?.delivery, terms)
  })
]

export const flowChecks: ReadonlyArray<Check<FlowStores>> = [
  ...drops,
  ...flowCancellationChecks,
  ...batchChecks,
  ...debounces,
  ...throttles
]
