/**
 * Contract of flow control: the rules of `AdmissionStore`, and the throttles of claims. Adapters run this suite.
 *
 * Concurrent transactions stand for many nodes. Each decision counts exactly once.
 */
import { assert } from "@effect/vitest"
import {
  type Admission,
  AdmissionStore,
  type ClaimResult,
  type Delivery,
  type FlowRule,
  JournalStore,
  replacedMessage
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimRequest, type JournalStores } from "./Claims.ts"
import { at, delivery, deliveryId, ended, envId, event, eventId, nodeId, runId, runIds } from "./Samples.ts"
import { advanced, commit, sleep, started, suspension } from "./WorkflowSamples.ts"

type FlowStores = AdmissionStore | JournalStores

export const flowContract = <E>(adapter: string, layer: Layer.Layer<FlowStores, E>): void =>
  suite(`Flow control contract: ${adapter}`, flowChecks, layer)

const day = 86_400_000

interface Published {
  readonly now?: number
  readonly env?: number
  readonly fields?: Partial<Delivery>
}

/** Event `n` with delivery `n`, for which the rules decide at `now`. */
const admission = (
  n: number,
  rules: ReadonlyArray<FlowRule>,
  { now = 0, env = 1, fields = {} }: Published = {}
): Admission => {
  const published = event(n, { env_id: envId(env), created_at: at(now), event_time: at(now) })
  const only = delivery(n, published, { due_at: at(now), ...fields })
  return {
    event: published,
    deliveries: [{ delivery: only, onceKey: null, rules }],
    request: null,
    now: at(now),
    until: at(now + day)
  }
}

/** Returns true if the delivery was stored. */
const admit = (n: number, rules: ReadonlyArray<FlowRule>, published: Published = {}) =>
  AdmissionStore.use((store) => store.admit(admission(n, rules, published))).pipe(
    Effect.map((outcome) => outcome._tag === "Stored" && outcome.deliveries.length === 1)
  )

/** Admits deliveries 1 to 20 at the same time. Returns the number of stored ones. */
const admitMany = (rules: ReadonlyArray<FlowRule>, fields: Partial<Delivery> = {}) =>
  Effect.forEach(
    Array.from({ length: 20 }, (_, index) => index + 1),
    (n) => admit(n, rules, { fields }),
    { concurrency: "unbounded" }
  ).pipe(Effect.map((stored) => stored.filter(Boolean).length))

/** Claims at `now`, with runs of its own. */
const claim = (now: number, node = 1) =>
  JournalStore.use((journal) =>
    journal.claim(
      claimRequest(at(now), {
        lease: { node_id: nodeId(node), until: at(now + 1_000) },
        runIds: runIds(now * 1_000 + node * 100, 100)
      })
    )
  )

const idsOf = ({ claims }: ClaimResult) => claims.map((each) => each.delivery.delivery_id).sort()

const ids = (...numbers: ReadonlyArray<number>) => numbers.map(deliveryId)

/** Ends the claimed runs at `now`. */
const endAll = ({ claims }: ClaimResult, now: number) =>
  JournalStore.use((journal) =>
    journal.commit(
      claims.map(({ run, delivery: { delivery_id } }) => ({
        _tag: "Settled",
        run: ended(run, { stop_time: at(now) }),
        logs: [],
        deliveryId: delivery_id,
        next: null
      })),
      null
    )
  )

const dedupe: FlowRule = { _tag: "Dedupe", key: "d", window_ms: 100 }
const twice: FlowRule = { _tag: "RateLimit", key: "r", limit: 2, period_ms: 100 }
const debounced: FlowRule = { _tag: "Debounce", key: "b", period_ms: 100, max_ms: null }
const singleton: FlowRule = { _tag: "Singleton" }
const replace: FlowRule = { _tag: "Replace" }
const one = { group: { key: "g", limit: 1 } }

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

/** Admits delivery `n`, which replaces those of its group. Returns what it replaced. */
const admitReplacing = (n: number, published: Published = {}, before: ReadonlyArray<FlowRule> = []) =>
  AdmissionStore.use((store) =>
    store.admit(admission(n, [...before, replace], { ...published, fields: { ...one, ...published.fields } }))
  ).pipe(Effect.map((outcome) => (outcome._tag === "Stored" ? outcome.replaced : undefined)))

const replacements: ReadonlyArray<Check<FlowStores>> = [
  check("a delivery that replaces others removes the pending one of its group", function* () {
    assert.isUndefined(yield* admitReplacing(1))
    const replaced = yield* admitReplacing(2)
    assert.deepStrictEqual(replaced, { runs: [], events: [eventId(1)] })
    assert.deepStrictEqual(idsOf(yield* claim(10)), ids(2))
  }),

  check("a delivery that replaces others cancels the running one of its group, with the reason", function* () {
    yield* admitReplacing(1)
    const running = yield* claim(10)
    assert.deepStrictEqual(idsOf(running), ids(1))
    const replaced = yield* admitReplacing(2, { now: 20 })
    assert.deepStrictEqual(replaced?.events, [])
    assert.deepStrictEqual(
      replaced?.runs.map(({ run, group }) => [run.run_id, run.status, run.stop_time, group]),
      running.claims.map(({ run }) => [run.run_id, "cancelled", at(20), "g"])
    )
    assert.include(replaced?.runs[0]?.run.result, replacedMessage)
    assert.deepStrictEqual(yield* endAll(running, 30), [false])
    assert.deepStrictEqual(idsOf(yield* claim(30)), ids(2))
  }),

  check("a delivery that replaces others cancels a suspended run of its group, and its waits", function* () {
    yield* commit(started(1, nodeId(1), {}, one))
    yield* commit(advanced(1, { waits: [sleep(1, 500)], suspension: suspension(500) }))
    const replaced = yield* admitReplacing(2, { now: 200 })
    assert.deepStrictEqual(
      replaced?.runs.map(({ run }) => [run.run_id, run.status, run.waiting]),
      [[runId(1), "cancelled", null]]
    )
    assert.deepStrictEqual(replaced?.events, [])
    assert.deepStrictEqual(idsOf(yield* claim(600)), ids(2))
  }),

  check("a delivery that replaces others leaves those of other groups and environments", function* () {
    yield* admitReplacing(1)
    yield* admitReplacing(2, { env: 2 })
    yield* admitReplacing(3, { fields: { group: { key: "other", limit: 1 } } })
    assert.deepStrictEqual(idsOf(yield* claim(10)), ids(1, 2, 3))
  }),

  check("a delivery that another rule drops replaces none", function* () {
    yield* admitReplacing(1, {}, [dedupe])
    assert.isUndefined(yield* admitReplacing(2, {}, [dedupe]))
    assert.deepStrictEqual(idsOf(yield* claim(10)), ids(1))
  }),

  check("many concurrent deliveries that replace each other leave one, while nodes claim", function* () {
    const replacing = Effect.forEach(
      Array.from({ length: 20 }, (_, index) => index + 1),
      (n) => admitReplacing(n),
      { concurrency: "unbounded" }
    )
    const claiming = Effect.forEach([1, 2, 3, 4, 5], (node) => claim(0, node), { concurrency: "unbounded" })
    const [replaced, claimed] = yield* Effect.all([replacing, claiming], { concurrency: "unbounded" })
    const before = claimed.flatMap(({ claims }) => claims.map(({ run }) => run.run_id))
    const after = (yield* claim(10, 6)).claims.map(({ run }) => run.run_id)
    const cancelled = replaced.flatMap((each) => each?.runs.map(({ run }) => run.run_id) ?? [])
    const removed = replaced.flatMap((each) => each?.events ?? [])
    assert.strictEqual(new Set([...cancelled, ...removed]).size, 19)
    const left = [...before, ...after].filter((id) => !cancelled.includes(id))
    assert.strictEqual(left.length, 1)
  })
]

export const flowChecks: ReadonlyArray<Check<FlowStores>> = [...drops, ...replacements, ...debounces, ...throttles]
