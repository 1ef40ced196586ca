/** Checks of batches: events that one run handles together. */
import { assert } from "@effect/vitest"
import {
  AdmissionStore,
  type ClaimResult,
  DeliveryStore,
  EventStore,
  explainDelivery,
  type FlowRule,
  JournalStore,
  parseEventIds,
  RunStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import {
  admission,
  admit,
  claim,
  dedupe,
  endAll,
  type FlowStores,
  ids,
  idsOf,
  one,
  type Published
} from "./FlowSamples.ts"
import { at, deliveryId, ended, envId, eventId, nodeId } from "./Samples.ts"
import { commit, suspension } from "./WorkflowSamples.ts"

const batch = { _tag: "Batch", key: "b", size: 3, timeout_ms: 100, bytes: 10 } satisfies FlowRule

/** Admits event `n`. Returns whether it was stored with a delivery, and what it did to batches. */
const join = (n: number, published: Published = {}, rule: FlowRule = batch) =>
  AdmissionStore.use((store) => store.admit(admission(n, [rule], published))).pipe(
    Effect.map((outcome) =>
      outcome._tag === "Stored" ? { isStored: outcome.deliveries.length === 1, batched: outcome.batched } : undefined
    )
  )

const joinAll = (from: number, to: number, published: Published = {}) =>
  Effect.forEach(
    Array.from({ length: to - from + 1 }, (_, index) => from + index),
    (n) => join(n, published),
    { discard: true }
  )

/** Returns the ids of the events of each claim. */
const eventsOf = ({ claims }: ClaimResult) => claims.map(({ events = [] }) => events.map(({ event_id }) => event_id))

const events = (...numbers: ReadonlyArray<number>) => numbers.map(eventId)

const collecting: ReadonlyArray<Check<FlowStores>> = [
  check("a batch starts with all of its events after its timeout, and not before", function* () {
    assert.deepStrictEqual(yield* join(1), { isStored: true, batched: undefined })
    const joined = { joined: [deliveryId(2)], isDue: false }
    assert.deepStrictEqual(yield* join(2, { now: 60 }), { isStored: false, batched: joined })
    const early = yield* claim(99)
    assert.deepStrictEqual([idsOf(early), early.next_due_at], [[], at(100)])
    const claimed = yield* claim(100)
    assert.deepStrictEqual([idsOf(claimed), eventsOf(claimed)], [ids(1), [events(1, 2)]])
    assert.deepStrictEqual(yield* claim(1_000).pipe(Effect.map(idsOf)), [])
  }),

  check("a claim returns the events of a batch as they are stored", function* () {
    yield* joinAll(1, 3)
    const [claimed] = (yield* claim(0)).claims
    const stored = yield* EventStore.use((store) => store.getMany(envId(1), events(1, 2, 3)))
    assert.sameDeepMembers([...(claimed?.events ?? [])], [...stored])
  }),

  check("a batch is due at once when it is full, and the next event begins another one", function* () {
    yield* joinAll(1, 2)
    assert.deepStrictEqual(yield* join(3, { now: 20 }), {
      isStored: false,
      batched: { joined: [deliveryId(3)], isDue: true }
    })
    assert.isTrue((yield* join(4, { now: 20 }))?.isStored)
    assert.deepStrictEqual(eventsOf(yield* claim(20)), [events(1, 2, 3)])
    assert.deepStrictEqual(eventsOf(yield* claim(119)), [])
    assert.deepStrictEqual(eventsOf(yield* claim(120)), [events(4)])
  }),

  check("a batch that an older event fills is not due before its first event", function* () {
    yield* join(1, { now: 50 })
    yield* join(2, { now: 40 })
    yield* join(3, { now: 30 })
    assert.deepStrictEqual(eventsOf(yield* claim(49)), [])
    assert.deepStrictEqual(eventsOf(yield* claim(50)), [events(1, 2, 3)])
  }),

  check("a batch of one event is due at once", function* () {
    assert.isTrue((yield* join(1, {}, { ...batch, size: 1 }))?.isStored)
    assert.isTrue((yield* join(2, {}, { ...batch, size: 1 }))?.isStored)
    assert.deepStrictEqual(eventsOf(yield* claim(0)), [events(1), events(2)])
  }),

  check("a batch is due early if the next event does not fit into it", function* () {
    yield* join(1)
    const large = { ...batch, bytes: 4 * 1024 * 1024 }
    assert.deepStrictEqual(yield* join(2, { now: 10 }, large), {
      isStored: true,
      batched: { joined: [], isDue: true }
    })
    assert.deepStrictEqual(eventsOf(yield* claim(10)), [events(1)])
    assert.deepStrictEqual(eventsOf(yield* claim(109)), [])
    assert.deepStrictEqual(eventsOf(yield* claim(110)), [events(2)])
  }),

  check("a batch collects each key of each environment alone", function* () {
    yield* joinAll(1, 2)
    yield* join(3, {}, { ...batch, key: "other" })
    yield* join(4, { env: 2 })
    const claimed = yield* claim(100)
    assert.deepStrictEqual(eventsOf(claimed).sort(), [events(1, 2), events(3), events(4)])
  }),

  check("an event after the timeout begins another batch, although no node has claimed the first one", function* () {
    yield* join(1)
    assert.isTrue((yield* join(2, { now: 100 }))?.isStored)
    assert.deepStrictEqual(eventsOf(yield* claim(100)), [events(1)])
    assert.deepStrictEqual(eventsOf(yield* claim(200)), [events(2)])
  }),

  check("a delayed event is a batch of its own", function* () {
    yield* join(1)
    assert.isTrue((yield* join(2, { fields: { due_at: at(500) } }))?.isStored)
    yield* join(3, { now: 10 })
    assert.deepStrictEqual(eventsOf(yield* claim(100)), [events(1, 3)])
    assert.deepStrictEqual(eventsOf(yield* claim(499)), [])
    assert.deepStrictEqual(eventsOf(yield* claim(500)), [events(2)])
  }),

  check("an event that a rule drops joins no batch", function* () {
    yield* admit(1, [dedupe, batch])
    yield* admit(2, [dedupe, batch])
    yield* admit(3, [{ ...dedupe, key: "other" }, batch])
    yield* admit(4, [{ ...dedupe, key: "other" }, batch])
    assert.deepStrictEqual(eventsOf(yield* claim(100)), [events(1, 3)])
  }),

  check("a full batch has the place of its priority", function* () {
    yield* admit(1, [], { now: 50 })
    yield* join(2, { now: 55, fields: { due_at: at(45) } })
    yield* joinAll(3, 4, { now: 60 })
    assert.deepStrictEqual(
      (yield* claim(60)).claims.map(({ delivery }) => [delivery.delivery_id, delivery.due_at]),
      [
        [deliveryId(1), at(50)],
        [deliveryId(2), at(50)]
      ]
    )
  }),

  check("a batch has the depth of its deepest event", function* () {
    yield* join(1, { fields: { depth: 1 } })
    yield* join(2, { fields: { depth: 7 } })
    yield* join(3)
    assert.strictEqual((yield* claim(0)).claims[0]?.delivery.depth, 7)
  }),

  check("many concurrent events are each in exactly one batch, while nodes claim", function* () {
    const joining = Effect.forEach(
      Array.from({ length: 20 }, (_, index) => index + 1),
      (n) => join(n),
      { concurrency: "unbounded" }
    )
    const claiming = Effect.forEach([1, 2, 3, 4, 5], (node) => claim(0, node), { concurrency: "unbounded" })
    const [, claimed] = yield* Effect.all([joining, claiming], { concurrency: "unbounded" })
    const batches = [...claimed, yield* claim(0, 6), yield* claim(100, 7)].flatMap(eventsOf)
    assert.isTrue(batches.every(({ length }) => length <= 3))
    assert.deepStrictEqual(batches.flat().sort(), events(...Array.from({ length: 20 }, (_, index) => index + 1)))
  })
]

const runs: ReadonlyArray<Check<FlowStores>> = [
  check("the run of a batch has the ids of its events, and is found by each of them", function* () {
    yield* joinAll(1, 2)
    const [claimed] = (yield* claim(100)).claims
    const store = yield* RunStore
    const run = claimed === undefined ? undefined : yield* store.get(envId(1), claimed.run.run_id)
    assert.deepStrictEqual(run, claimed?.run)
    assert.deepStrictEqual([run?.event_id, parseEventIds(run?.event_ids ?? "[]")], [eventId(1), events(1, 2)])
    for (const [n, env, found] of [
      [1, 1, 1],
      [2, 1, 1],
      [3, 1, 0],
      [2, 2, 0]
    ] as const) {
      const filter = { eventId: eventId(n), inBatches: true } as const
      const page = yield* store.list(envId(env), { limit: 10, offset: 0 }, filter)
      assert.deepStrictEqual([page.items.length, page.total], [found, found])
    }
  }),

  check("the run of a single event has no list of events", function* () {
    yield* admit(1, [])
    const [claimed] = (yield* claim(0)).claims
    assert.deepStrictEqual([claimed?.events, claimed?.run.event_ids], [undefined, null])
  }),

  check("a pending batch is found by each of its events, and explained", function* () {
    yield* joinAll(1, 2)
    const store = yield* DeliveryStore
    for (const n of [1, 2]) {
      const [pending] = yield* store.list(envId(1), { limit: 10, offset: 0 }, { eventId: eventId(n) })
      assert.deepStrictEqual(pending === undefined ? null : explainDelivery(pending, at(50)), {
        ...{ reason: "batch", since: at(0), until: at(100), detail: "2 of 3" }
      })
    }
    assert.deepStrictEqual(yield* store.list(envId(1), { limit: 10, offset: 0 }, { eventId: eventId(3) }), [])
  }),

  check("the next attempt has the same events, and others join another batch", function* () {
    yield* joinAll(1, 2)
    const { claims } = yield* claim(100)
    yield* join(3, { now: 110 })
    yield* JournalStore.use((journal) =>
      journal.commit(
        claims.map(({ run, delivery: { delivery_id } }) => ({
          ...{ _tag: "Settled", run: ended(run, { status: "failed" }), logs: [], deliveryId: delivery_id },
          next: { attempt: 2, due_at: at(150), first_run_id: run.run_id }
        })),
        null
      )
    )
    const retried = yield* claim(150)
    assert.deepStrictEqual(eventsOf(retried), [events(1, 2)])
    assert.strictEqual(retried.claims[0]?.run.event_ids, claims[0]?.run.event_ids)
    assert.deepStrictEqual(eventsOf(yield* claim(210)), [events(3)])
  }),

  check("a batch whose node is lost starts again with the same events", function* () {
    yield* joinAll(1, 3)
    yield* claim(0)
    yield* JournalStore.use((journal) => journal.reap(nodeId(2), at(5_000), 10))
    assert.deepStrictEqual(eventsOf(yield* claim(5_000, 2)), [events(1, 2, 3)])
  }),

  check("a durable run of a batch continues with the same events", function* () {
    yield* joinAll(1, 3, { fields: { durable: true } })
    for (const { run, delivery } of (yield* claim(0)).claims) {
      yield* commit({
        ...{ _tag: "Advanced", run, deliveryId: delivery.delivery_id, at: at(0), steps: [], waits: [] },
        suspension: suspension(500)
      })
    }
    const continued = yield* claim(500)
    assert.deepStrictEqual(eventsOf(continued), [events(1, 2, 3)])
    assert.deepStrictEqual(parseEventIds(continued.claims[0]?.run.event_ids ?? "[]"), events(1, 2, 3))
  }),

  check("a batch counts as one run of its group", function* () {
    yield* joinAll(1, 6, { fields: one })
    const first = yield* claim(0)
    assert.deepStrictEqual(eventsOf(first), [events(1, 2, 3)])
    assert.strictEqual(first.parked, 1)
    // No event joins a batch that waits for its group.
    yield* join(7, { now: 10, fields: one })
    yield* endAll(first, 20)
    yield* JournalStore.use((journal) => journal.unpark([{ env_id: envId(1), key: "g" }], at(20)))
    assert.deepStrictEqual(eventsOf(yield* claim(20)), [events(4, 5, 6)])
  }),

  check("a batch counts as one start of a throttle", function* () {
    yield* joinAll(1, 6, { fields: { throttle: { key: "t", limit: 1, period_ms: 50 } } })
    assert.deepStrictEqual(eventsOf(yield* claim(0)), [events(1, 2, 3)])
    assert.deepStrictEqual(eventsOf(yield* claim(50)), [events(4, 5, 6)])
  })
]

export const batchChecks: ReadonlyArray<Check<FlowStores>> = [...collecting, ...runs]
