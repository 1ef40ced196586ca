/**
 * What every `AdmissionStore` must do. Adapters run this suite; they do not copy it.
 *
 * What was stored is observed through `EventStore` on the same database, and what waits through `claim`.
 */
import { assert } from "@effect/vitest"
import { type Admission, AdmissionStore, EventStore, parkedAt, RunStore } from "@weft/core"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { at, bigJson, delivery, deliveryId, envId, event, eventId, everything, hostileText } from "./Samples.ts"
import { claimAll, type JournalStores } from "./Waiting.ts"

export type AdmissionStores = AdmissionStore | JournalStores

export const admissionStoreContract = <E>(adapter: string, layer: Layer.Layer<AdmissionStores, E>) =>
  suite(`AdmissionStore contract: ${adapter}`, admissionStoreChecks, layer)

const day = 86_400_000

/** Event `n` with a delivery for each of `onceKeys`, numbered from `10 * n`, published at `now`. */
const admission = (
  n: number,
  onceKeys: ReadonlyArray<string | null>,
  {
    key = null,
    digest = "one",
    now = 0,
    env = 1
  }: { key?: string | null; digest?: string; now?: number; env?: number } = {}
): Admission => {
  const published = event(n, { env_id: envId(env), created_at: at(now), event_time: at(now) })
  return {
    event: published,
    deliveries: onceKeys.map((onceKey, index) => ({ delivery: delivery(10 * n + index, published), onceKey })),
    request: key === null ? null : { key, digest },
    now: at(now),
    until: at(now + day)
  }
}

const stored = (...numbers: ReadonlyArray<number>) => ({ _tag: "Stored", deliveries: numbers.map(deliveryId) }) as const

const eventsOf = (env = 1) =>
  Effect.map(
    EventStore.use((events) => events.list(envId(env), everything)),
    ({ items, total }) => {
      assert.strictEqual(total, items.length)
      return items.map((item) => item.event_id)
    }
  )

const waitingNow = (now: number) =>
  Effect.map(claimAll(at(now)), ({ claims }) => claims.map((claim) => claim.delivery.delivery_id).sort())

const handlers: ReadonlyArray<Check<AdmissionStores>> = [
  check("an event and all of its deliveries are stored, and the deliveries wait", function* () {
    const store = yield* AdmissionStore
    const published = event(1, { event_type: hostileText, event_data: bigJson, created_at: at(5), event_time: at(900) })
    const intents = [
      delivery(1, published, { var: hostileText, due_at: at(900) }),
      delivery(2, published, { group: { key: "g", limit: 1 } }),
      delivery(3, published, { group: { key: "g", limit: 1 } })
    ]
    const deliveries = intents.map((intent) => ({ delivery: intent, onceKey: null }))
    const admitted = yield* store.admit({ event: published, deliveries, request: null, now: at(5), until: at(day) })
    assert.deepStrictEqual(admitted, stored(1, 2, 3))
    assert.deepStrictEqual(yield* (yield* EventStore).get(envId(1), eventId(1)), published)
    assert.strictEqual(yield* (yield* RunStore).waiting(10), 3)
    const first = yield* claimAll(at(5))
    assert.deepStrictEqual(
      first.claims.map((claim) => [claim.delivery, claim.event]),
      [[intents[1], published]]
    )
    assert.deepStrictEqual([first.parked, first.next_due_at], [1, at(900)])
    assert.isBelow(first.next_due_at ?? parkedAt, parkedAt)
  }),

  check("an event without deliveries is stored and counted", function* () {
    const store = yield* AdmissionStore
    assert.deepStrictEqual(yield* store.admit(admission(1, [])), stored())
    assert.deepStrictEqual(yield* store.admit(admission(2, [])), stored())
    assert.deepStrictEqual(yield* eventsOf(), [eventId(2), eventId(1)])
  }),

  check("a delivery whose key is taken is left out; its event and its siblings are not", function* () {
    const store = yield* AdmissionStore
    const key = `handler ${hostileText}`
    assert.deepStrictEqual(yield* store.admit(admission(1, [key, null, "b"])), stored(10, 11, 12))
    assert.deepStrictEqual(yield* store.admit(admission(2, [null, key, "c", "b"])), stored(20, 22))
    assert.deepStrictEqual(yield* store.admit(admission(3, [key])), stored())
    assert.deepStrictEqual(yield* eventsOf(), [eventId(3), eventId(2), eventId(1)])
    assert.deepStrictEqual(yield* waitingNow(100), [10, 11, 12, 20, 22].map(deliveryId))
  }),

  check("the deliveries of one event are told in their order", function* () {
    const store = yield* AdmissionStore
    assert.deepStrictEqual(yield* store.admit(admission(1, ["z", null, "a", "m"])), stored(10, 11, 12, 13))
  }),

  check("a key is free again when it expires, to the millisecond", function* () {
    const store = yield* AdmissionStore
    yield* store.admit(admission(1, ["a"]))
    assert.deepStrictEqual(yield* store.admit(admission(2, ["a"], { now: day - 1 })), stored())
    assert.deepStrictEqual(yield* store.admit(admission(3, ["a"], { now: day })), stored(30))
    assert.deepStrictEqual(yield* store.admit(admission(4, ["a"], { now: day + 1 })), stored())
    assert.deepStrictEqual(yield* store.admit(admission(5, ["a"], { now: 2 * day })), stored(50))
  }),

  check("environments have keys of their own", function* () {
    const store = yield* AdmissionStore
    yield* store.admit(admission(1, ["a"], { key: "k" }))
    assert.deepStrictEqual(yield* store.admit(admission(2, ["a"], { key: "k", env: 2 })), stored(20))
    assert.deepStrictEqual(yield* eventsOf(2), [eventId(2)])
    assert.isNull(yield* store.earlier(envId(3), "k", at(1)))
  })
]

const requests: ReadonlyArray<Check<AdmissionStores>> = [
  check("of two requests with one key the first is stored, and the second learns of it", function* () {
    const store = yield* AdmissionStore
    const first = admission(1, [null], { key: hostileText })
    assert.deepStrictEqual(yield* store.admit(first), stored(10))
    const earlier = { event: first.event, digest: "one" }
    const second = admission(2, [null, "a"], { key: hostileText, digest: "two", now: 5 })
    assert.deepStrictEqual(yield* store.admit(second), { _tag: "Earlier", earlier })
    assert.deepStrictEqual(yield* eventsOf(), [eventId(1)])
    assert.deepStrictEqual(yield* waitingNow(100), [deliveryId(10)])
    // Of what was not stored nothing is taken either.
    assert.deepStrictEqual(yield* store.admit(admission(3, ["a"])), stored(30))
  }),

  check("an earlier request is found until its key expires", function* () {
    const store = yield* AdmissionStore
    const first = admission(1, [], { key: "k" })
    assert.isNull(yield* store.earlier(envId(1), "k", at(0)))
    yield* store.admit(first)
    assert.deepStrictEqual(yield* store.earlier(envId(1), "k", at(day - 1)), { event: first.event, digest: "one" })
    assert.isNull(yield* store.earlier(envId(1), "k", at(day)))
    const again = admission(2, [], { key: "k", digest: "two", now: day })
    assert.deepStrictEqual(yield* store.admit(again), stored())
    assert.deepStrictEqual(yield* store.earlier(envId(1), "k", at(day + 1)), { event: again.event, digest: "two" })
  }),

  check("of many that come at once with one key exactly one is stored, and all know it", function* () {
    const store = yield* AdmissionStore
    const results = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, index) => admission(index + 1, ["same", null], { key: "k" })),
      (one) => store.admit(one),
      { concurrency: "unbounded" }
    )
    const [only, ...others] = yield* eventsOf()
    assert.deepStrictEqual(others, [])
    assert.strictEqual(results.filter((result) => result._tag === "Stored").length, 1)
    for (const result of results) {
      if (result._tag === "Earlier") assert.strictEqual(result.earlier.event.event_id, only)
    }
    assert.strictEqual((yield* waitingNow(100)).length, 2)
  }),

  check("of many events at once with one value one is handled", function* () {
    const store = yield* AdmissionStore
    const results = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, index) => admission(index + 1, ["a", "b"])),
      (one) => store.admit(one),
      { concurrency: "unbounded" }
    )
    const kept = results.flatMap((result) => (result._tag === "Stored" ? result.deliveries : []))
    assert.strictEqual(kept.length, 2)
    assert.strictEqual((yield* eventsOf()).length, 20)
    assert.deepStrictEqual(yield* waitingNow(100), [...kept].sort())
  }),

  check("forgetting removes keys that are free again, at most limit, and no others", function* () {
    const store = yield* AdmissionStore
    yield* store.admit(admission(1, ["a", "b", "c"], { key: "k" }))
    yield* store.admit(admission(2, ["d"], { key: "l", now: 100 }))
    assert.strictEqual(yield* store.forget(at(day - 1), 10), 0)
    assert.strictEqual(yield* store.forget(at(day + 99), 3), 3)
    assert.strictEqual(yield* store.forget(at(day + 99), 3), 1)
    assert.strictEqual(yield* store.forget(at(day + 99), 3), 0)
    assert.deepStrictEqual(yield* store.admit(admission(3, ["d", "a"], { now: day + 99 })), stored(31))
    assert.strictEqual((yield* store.earlier(envId(1), "l", at(day + 99)))?.event.event_id, eventId(2))
    assert.strictEqual((yield* eventsOf()).length, 3)
  })
]

export const admissionStoreChecks: ReadonlyArray<Check<AdmissionStores>> = [...handlers, ...requests]
