/**
 * Contract of `AdmissionStore`. Adapters run this suite; they do not copy it.
 *
 * The checks read stored events from the `EventStore` of the same database, and pending deliveries with `claim`.
 */
import { assert } from "@effect/vitest"
import { type Admission, AdmissionStore, EventStore, parkedAt, RunStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import { at, bigJson, delivery, deliveryId, envId, event, eventId, everything, hostileText } from "./Samples.ts"

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
    deliveries: onceKeys.map((onceKey, index) => ({
      delivery: delivery(10 * n + index, published),
      onceKey,
      rules: []
    })),
    request: key === null ? null : { key, digest },
    now: at(now),
    until: at(now + day)
  }
}

const stored = (...numbers: ReadonlyArray<number>) => ({ _tag: "Stored", deliveries: numbers.map(deliveryId) }) as const

const listEventIds = (env = 1) =>
  Effect.map(
    EventStore.use((events) => events.list(envId(env), everything)),
    ({ items, total }) => {
      assert.strictEqual(total, items.length)
      return items.map((item) => item.event_id)
    }
  )

const claimPending = (now: number) =>
  Effect.map(claimAll(at(now)), ({ claims }) => claims.map((claim) => claim.delivery.delivery_id).sort())

const handlers: ReadonlyArray<Check<AdmissionStores>> = [
  check("stores an event with all of its deliveries, which are then pending", function* () {
    const store = yield* AdmissionStore
    const published = event(1, { event_type: hostileText, event_data: bigJson, created_at: at(5), event_time: at(900) })
    const intents = [
      delivery(1, published, { var: hostileText, due_at: at(900) }),
      delivery(2, published, { group: { key: "g", limit: 1 } }),
      delivery(3, published, { group: { key: "g", limit: 1 } })
    ]
    const deliveries = intents.map((intent) => ({ delivery: intent, onceKey: null, rules: [] }))
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

  check("stores and counts an event without deliveries", function* () {
    const store = yield* AdmissionStore
    assert.deepStrictEqual(yield* store.admit(admission(1, [])), stored())
    assert.deepStrictEqual(yield* store.admit(admission(2, [])), stored())
    assert.deepStrictEqual(yield* listEventIds(), [eventId(2), eventId(1)])
  }),

  check("skips a delivery whose key is claimed, but stores its event and the other deliveries", function* () {
    const store = yield* AdmissionStore
    const key = `handler ${hostileText}`
    assert.deepStrictEqual(yield* store.admit(admission(1, [key, null, "b"])), stored(10, 11, 12))
    assert.deepStrictEqual(yield* store.admit(admission(2, [null, key, "c", "b"])), stored(20, 22))
    assert.deepStrictEqual(yield* store.admit(admission(3, [key])), stored())
    assert.deepStrictEqual(yield* listEventIds(), [eventId(3), eventId(2), eventId(1)])
    assert.deepStrictEqual(yield* claimPending(100), [10, 11, 12, 20, 22].map(deliveryId))
  }),

  check("returns the deliveries of an event in their order", function* () {
    const store = yield* AdmissionStore
    assert.deepStrictEqual(yield* store.admit(admission(1, ["z", null, "a", "m"])), stored(10, 11, 12, 13))
  }),

  check("frees a key exactly when it expires", function* () {
    const store = yield* AdmissionStore
    yield* store.admit(admission(1, ["a"]))
    assert.deepStrictEqual(yield* store.admit(admission(2, ["a"], { now: day - 1 })), stored())
    assert.deepStrictEqual(yield* store.admit(admission(3, ["a"], { now: day })), stored(30))
    assert.deepStrictEqual(yield* store.admit(admission(4, ["a"], { now: day + 1 })), stored())
    assert.deepStrictEqual(yield* store.admit(admission(5, ["a"], { now: 2 * day })), stored(50))
  }),

  check("separates the keys of environments", function* () {
    const store = yield* AdmissionStore
    yield* store.admit(admission(1, ["a"], { key: "k" }))
    assert.deepStrictEqual(yield* store.admit(admission(2, ["a"], { key: "k", env: 2 })), stored(20))
    assert.deepStrictEqual(yield* listEventIds(2), [eventId(2)])
    assert.isNull(yield* store.earlier(envId(3), "k", at(1)))
  })
]

const requests: ReadonlyArray<Check<AdmissionStores>> = [
  check("stores the first of two requests with one key, and returns it for the second", function* () {
    const store = yield* AdmissionStore
    const first = admission(1, [null], { key: hostileText })
    assert.deepStrictEqual(yield* store.admit(first), stored(10))
    const earlier = { event: first.event, digest: "one" }
    const second = admission(2, [null, "a"], { key: hostileText, digest: "two", now: 5 })
    assert.deepStrictEqual(yield* store.admit(second), { _tag: "Earlier", earlier })
    assert.deepStrictEqual(yield* listEventIds(), [eventId(1)])
    assert.deepStrictEqual(yield* claimPending(100), [deliveryId(10)])
    // The request that was not stored has not claimed its keys either.
    assert.deepStrictEqual(yield* store.admit(admission(3, ["a"])), stored(30))
  }),

  check("finds an earlier request until its key expires", function* () {
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

  check("stores exactly one of many concurrent requests with one key, and returns it for the others", function* () {
    const store = yield* AdmissionStore
    const results = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, index) => admission(index + 1, ["same", null], { key: "k" })),
      (one) => store.admit(one),
      { concurrency: "unbounded" }
    )
    const [only, ...others] = yield* listEventIds()
    assert.deepStrictEqual(others, [])
    assert.strictEqual(results.filter((result) => result._tag === "Stored").length, 1)
    for (const result of results) {
      if (result._tag === "Earlier") assert.strictEqual(result.earlier.event.event_id, only)
    }
    assert.strictEqual((yield* claimPending(100)).length, 2)
  }),

  check("delivers exactly one of many concurrent events with one key", function* () {
    const store = yield* AdmissionStore
    const results = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, index) => admission(index + 1, ["a", "b"])),
      (one) => store.admit(one),
      { concurrency: "unbounded" }
    )
    const accepted = results.flatMap((result) => (result._tag === "Stored" ? result.deliveries : []))
    assert.strictEqual(accepted.length, 2)
    assert.strictEqual((yield* listEventIds()).length, 20)
    assert.deepStrictEqual(yield* claimPending(100), [...accepted].sort())
  }),

  check("forget removes at most limit expired keys, and no others", function* () {
    const store = yield* AdmissionStore
    yield* store.admit(admission(1, ["a", "b", "c"], { key: "k" }))
    yield* store.admit(admission(2, ["d"], { key: "l", now: 100 }))
    assert.strictEqual(yield* store.forget(at(day - 1), 10), 0)
    assert.strictEqual(yield* store.forget(at(day + 99), 3), 3)
    assert.strictEqual(yield* store.forget(at(day + 99), 3), 1)
    assert.strictEqual(yield* store.forget(at(day + 99), 3), 0)
    assert.deepStrictEqual(yield* store.admit(admission(3, ["d", "a"], { now: day + 99 })), stored(31))
    assert.strictEqual((yield* store.earlier(envId(1), "l", at(day + 99)))?.event.event_id, eventId(2))
    assert.strictEqual((yield* listEventIds()).length, 3)
  })
]

export const admissionStoreChecks: ReadonlyArray<Check<AdmissionStores>> = [...handlers, ...requests]
