/** Contract of `DeliveryStore` together with the journal of the same database. Adapters run this suite. */
import { assert } from "@effect/vitest"
import {
  DeliveryStore,
  explainDelivery,
  JournalStore,
  JsonText,
  type PendingFilter,
  parkedAt,
  ScheduleStore,
  type Wait
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimAll, claimRequest, type JournalStores } from "./Claims.ts"
import {
  at,
  claimedOnInsert,
  deliveryId,
  ended,
  envId,
  eventId,
  everything,
  nodeId,
  projectId,
  run,
  runId,
  runIds,
  settled,
  streamId,
  waiting
} from "./Samples.ts"
import { scheduleId } from "./ScheduleSamples.ts"

type Stores = DeliveryStore | JournalStores | ScheduleStore

export const deliveryStoreContract = <E>(
  adapter: string,
  layer: Layer.Layer<Stores, E>,
  { exclusive }: { readonly exclusive: boolean }
): void => {
  const checks = exclusive ? deliveryStoreChecks : [...deliveryStoreChecks, ...leaseChecks]
  suite(`DeliveryStore contract: ${adapter}`, checks, layer)
}

const commit = (...entries: Parameters<JournalStore["Service"]["commit"]>[0]) =>
  JournalStore.use((journal) => journal.commit(entries, null))

const list = (filter: PendingFilter = {}, env = 1) =>
  DeliveryStore.use((store) => store.list(envId(env), everything, filter))

const idsOf = (filter: PendingFilter = {}, env = 1) =>
  Effect.map(list(filter, env), (items) => items.map(({ delivery_id }) => delivery_id))

/** Returns why each delivery waits at `now`, by the order of the list. */
const explained = (now: number) =>
  Effect.map(list(), (items) => items.map((pending): Wait => explainDelivery(pending, at(now))))

const group = { key: "one at a time", limit: 1 }
const throttle = { key: "t", limit: 1, period_ms: 100 }

const claim = (now: number, first = 10_000) =>
  claimAll(at(now), { runIds: claimRequest(at(now), { runIds: runIds(first, 100) }).runIds })

const deliveryStoreChecks: ReadonlyArray<Check<Stores>> = [
  check("lists pending deliveries by their due times, and not those that a run holds", function* () {
    yield* commit(waiting(2, {}, { due_at: at(50) }), waiting(1, {}, { due_at: at(90) }), claimedOnInsert(3))
    const items = yield* list()
    assert.deepStrictEqual(yield* idsOf(), [deliveryId(2), deliveryId(1)])
    assert.deepInclude(items[0], { event_id: eventId(2), event_type: "order:created", attempt: 1, continues: null })
    const store = yield* DeliveryStore
    const second = yield* store.list(envId(1), { limit: 1, offset: 1 }, {})
    assert.deepStrictEqual(
      second.map((item) => item.delivery_id),
      [deliveryId(1)]
    )
  }),

  check("lists only what the filter selects, of one environment", function* () {
    yield* commit(
      waiting(1),
      waiting(2, { event_type: "other" }, { var: "onOther", project_id: projectId(2), project_name: "shop" }),
      waiting(3, { env_id: envId(2) })
    )
    const one = [deliveryId(1)]
    const two = [deliveryId(2)]
    assert.deepStrictEqual(yield* idsOf(), [deliveryId(1), deliveryId(2)])
    assert.deepStrictEqual(yield* idsOf({}, 2), [deliveryId(3)])
    assert.deepStrictEqual(yield* idsOf({ only: ["shop"] }), two)
    assert.deepStrictEqual(yield* idsOf({ only: [projectId(1)] }), one)
    assert.deepStrictEqual(yield* idsOf({ only: [] }), [])
    assert.deepStrictEqual(yield* idsOf({ project: "shop" }), two)
    assert.deepStrictEqual(yield* idsOf({ functions: [["main/onOther", "main/onOrder"], ["shop:main/onOther"]] }), two)
    assert.deepStrictEqual(yield* idsOf({ eventType: "other" }), two)
    assert.deepStrictEqual(yield* idsOf({ eventId: eventId(1) }), one)
    assert.deepStrictEqual(yield* idsOf({ deliveryId: deliveryId(2) }), two)
    assert.deepStrictEqual(yield* idsOf({ deliveryId: deliveryId(3) }), [])
    assert.deepStrictEqual(yield* idsOf({ continues: runId(1) }), [])
    assert.deepStrictEqual(yield* idsOf({ continues: null }), [deliveryId(1), deliveryId(2)])
  }),

  check("counts what the filter selects, up to a limit", function* () {
    yield* commit(waiting(1), waiting(2, { event_type: "other" }), waiting(3), waiting(4, { env_id: envId(2) }))
    const store = yield* DeliveryStore
    const count = (filter: PendingFilter, limit: number) => store.count(envId(1), filter, limit)
    assert.strictEqual(yield* count({}, 10), 3)
    assert.strictEqual(yield* count({}, 2), 2)
    assert.strictEqual(yield* count({ eventType: "other" }, 10), 1)
    assert.strictEqual(yield* count({ only: [] }, 10), 0)
  }),

  check("explains a delivery of a full group, and one whose group has a free slot again", function* () {
    yield* commit(waiting(1, {}, { group }), waiting(2, {}, { group }))
    const { claims } = yield* claim(20)
    const held = { reason: "group", since: at(20), until: null, detail: "one at a time" } as const
    assert.deepStrictEqual(yield* explained(30), [held])
    assert.strictEqual((yield* list())[0]?.due_at, parkedAt)
    for (const { delivery, run } of claims)
      yield* commit({ _tag: "Settled", run: ended(run), logs: [], deliveryId: delivery.delivery_id, next: null })
    const journal = yield* JournalStore
    yield* journal.unpark([{ env_id: envId(1), key: group.key }], at(40))
    assert.deepStrictEqual(yield* explained(45), [{ reason: "slot", since: at(40), until: null, detail: null }])
  }),

  check("explains a throttled delivery since its first postponement", function* () {
    yield* commit(...[1, 2, 3].map((n) => waiting(n, {}, { throttle })))
    yield* claim(10)
    const wait = (until: number) => ({ reason: "throttle", since: at(10), until: at(until), detail: "t" }) as const
    assert.deepStrictEqual(yield* explained(15), [wait(110), wait(210)])
    yield* claim(110, 20_000)
    assert.deepStrictEqual(yield* explained(120), [wait(210)])
  }),

  check("explains delays, debounces, retries and free deliveries", function* () {
    yield* commit(
      waiting(1, { event_time: at(1), created_at: at(1) }, { due_at: at(1) }),
      waiting(2, { event_time: at(500), created_at: at(2) }, { due_at: at(500) }),
      waiting(3, { event_time: at(3), created_at: at(3) }, { due_at: at(600) }),
      claimedOnInsert(4)
    )
    const failed = ended(run(4, { event_id: eventId(4), run_type: "event", stream_id: streamId(4) }), {
      status: "failed",
      result: JsonText.make("{}")
    })
    yield* commit(settled(4, failed, { attempt: 2, due_at: at(700), first_run_id: runId(4) }))
    const none = { detail: null }
    assert.deepStrictEqual(yield* explained(100), [
      { reason: "slot", since: at(1), until: null, ...none },
      { reason: "delay", since: at(2), until: at(500), ...none },
      { reason: "debounce", since: at(3), until: at(600), ...none },
      { reason: "retry", since: at(9), until: at(700), ...none }
    ])
  }),

  check("reports no live node as down", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([], { node_id: nodeId(1), until: at(100) })
    const store = yield* DeliveryStore
    assert.strictEqual(yield* store.downSince(nodeId(1), at(100)), null)
  }),

  check("finds no schedule of another environment", function* () {
    const schedules = yield* ScheduleStore
    const error = yield* Effect.flip(schedules.get(envId(2), scheduleId(1)))
    assert.strictEqual(error._tag, "NotFound")
  })
]

/** Checks for databases that nodes share. */
const leaseChecks: ReadonlyArray<Check<Stores>> = [
  check("reports since when a node is down: its lease has expired, or it has none", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1)], { node_id: nodeId(1), until: at(100) })
    const store = yield* DeliveryStore
    assert.strictEqual(yield* store.downSince(nodeId(1), at(101)), at(100))
    assert.strictEqual(yield* store.downSince(nodeId(2), at(101)), at(101))
  }),

  check("explains the delivery of an expired node as due once another node has reaped its run", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1)], { node_id: nodeId(1), until: at(100) })
    assert.deepStrictEqual(yield* explained(150), [])
    yield* journal.reap(nodeId(2), at(150), 10)
    assert.deepStrictEqual(yield* explained(160), [{ reason: "slot", since: at(150), until: null, detail: null }])
  })
]
