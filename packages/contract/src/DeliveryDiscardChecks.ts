/** Checks that `RunControlStore` discards pending deliveries. */
import { assert } from "@effect/vitest"
import {
  type DeliverySelection,
  type DiscardedDelivery,
  type EventStore,
  JournalStore,
  parkedAt,
  RunControlStore,
  RunStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import {
  at,
  claimedOnInsert,
  deliveryId,
  ended,
  envId,
  eventId,
  hostileText,
  projectId,
  run,
  runId,
  settled,
  streamId,
  waiting
} from "./Samples.ts"

type Stores = RunControlStore | JournalStore | RunStore | EventStore

const commit = (...entries: Parameters<JournalStore["Service"]["commit"]>[0]) =>
  JournalStore.use((journal) => journal.commit(entries, null))

/** Discards with so many transactions as are needed, each of `limit` deliveries. */
const discard = Effect.fnUntraced(function* (which: DeliverySelection, limit = 100, env = 1) {
  const store = yield* RunControlStore
  const all: Array<DiscardedDelivery> = []
  let calls = 1
  let { discarded, next } = yield* store.discard(envId(env), which, null, limit)
  all.push(...discarded)
  while (next !== null && calls < 50) {
    ;({ discarded, next } = yield* store.discard(envId(env), which, next, limit))
    all.push(...discarded)
    calls++
  }
  return { ids: all.map(({ delivery_id }) => delivery_id), all, calls }
})

/** Returns the ids of the deliveries that remain to be claimed. */
const remaining = Effect.map(claimAll(at(1_000_000)), ({ claims }) =>
  claims.map(({ delivery }) => delivery.delivery_id).sort()
)

const ids = (...numbers: ReadonlyArray<number>) => numbers.map(deliveryId)

export const deliveryDiscardChecks: ReadonlyArray<Check<Stores>> = [
  check("discards pending deliveries, due, in the future and parked, and keeps their events", function* () {
    const group = { key: "one at a time", limit: 1 }
    yield* commit(
      waiting(1, { event_type: hostileText }, { group }),
      waiting(2, {}, { due_at: at(500_000) }),
      waiting(3, {}, { due_at: parkedAt, group })
    )
    const { all } = yield* discard({})
    const sorted = [...all].sort((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1))
    const of = (n: number) => ({ delivery_id: deliveryId(n), event_id: eventId(n), stream_id: streamId(n) })
    assert.deepStrictEqual(sorted, [
      { ...of(1), event_type: hostileText, group: group.key },
      { ...of(2), event_type: sorted[1]?.event_type ?? "", group: null },
      { ...of(3), event_type: sorted[2]?.event_type ?? "", group: group.key }
    ])
    assert.deepStrictEqual(yield* remaining, [])
    assert.deepStrictEqual(yield* discard({}), { ids: [], all: [], calls: 1 })
  }),

  check("leaves running runs, and discards the delivery that waits for a retry", function* () {
    yield* commit(claimedOnInsert(1), claimedOnInsert(2))
    const again = { attempt: 2, due_at: at(20), first_run_id: runId(1) }
    yield* commit(settled(1, ended(run(1), { status: "failed" }), again))
    assert.deepStrictEqual((yield* discard({})).ids, ids(1))
    assert.strictEqual((yield* RunStore.use((store) => store.get(envId(1), runId(2)))).status, "running")
    assert.deepStrictEqual(yield* commit(settled(2, ended(run(2)))), [true])
  }),

  check("discards in one environment only", function* () {
    yield* commit(waiting(1), waiting(2, { env_id: envId(2) }))
    assert.deepStrictEqual((yield* discard({}, 100, 2)).ids, ids(2))
    assert.deepStrictEqual(yield* remaining, ids(1))
  }),

  check("selects by project, by its id or its name", function* () {
    const other = { project_id: projectId(2), project_name: hostileText }
    yield* commit(...[1, 2, 3].map((n) => waiting(n, {}, n === 2 ? {} : other)))
    assert.deepStrictEqual((yield* discard({ projectId: projectId(1), project: hostileText })).ids, [])
    assert.deepStrictEqual((yield* discard({ projectId: projectId(1) })).ids, ids(2))
    assert.deepStrictEqual((yield* discard({ project: "project 1" })).ids, [])
    assert.deepStrictEqual((yield* discard({ project: hostileText, before: deliveryId(3) })).ids, ids(1))
    assert.deepStrictEqual((yield* discard({ project: projectId(2) })).ids, ids(3))
  }),

  check("selects by event type", function* () {
    yield* commit(
      waiting(1, { event_type: "a" }),
      waiting(2, { event_type: hostileText }),
      waiting(3, { event_type: "a" })
    )
    assert.deepStrictEqual((yield* discard({ eventType: hostileText })).ids, ids(2))
    assert.deepStrictEqual(yield* remaining, ids(1, 3))
  }),

  check("selects the functions that are in every list, with and without the project's name", function* () {
    yield* commit(...["a", "b", "c", "d"].map((name, n) => waiting(n + 1, {}, { var: name })))
    const functions = [
      ["main/a", "main/b", "other:main/d"],
      ["main/b", "project 1:main/a", "main/d"]
    ]
    assert.deepStrictEqual((yield* discard({ functions: [...functions, []] })).ids, [])
    assert.deepStrictEqual((yield* discard({ functions })).ids, ids(1, 2))
    assert.deepStrictEqual(yield* remaining, ids(3, 4))
  }),

  check("keeps deliveries that were published later", function* () {
    yield* commit(
      waiting(3, { created_at: at(1) }),
      waiting(1, { created_at: at(3) }),
      waiting(2, { created_at: at(2) })
    )
    assert.deepStrictEqual((yield* discard({ before: deliveryId(2) })).ids, ids(1))
    assert.deepStrictEqual(yield* remaining, ids(2, 3))
  }),

  check("examines a limited number at a time, whatever is selected", function* () {
    yield* commit(
      ...Array.from({ length: 25 }, (_, n) => waiting(n + 1, { event_type: n % 10 === 0 ? "rare" : "common" }))
    )
    const rare = yield* discard({ eventType: "rare" }, 5)
    assert.deepStrictEqual([...rare.ids].sort(), ids(1, 11, 21))
    assert.isAtLeast(rare.calls, 5)
    const rest = yield* discard({}, 5)
    assert.strictEqual(rest.ids.length, 22)
    assert.isAtLeast(rest.calls, 5)
    assert.deepStrictEqual(yield* remaining, [])
  })
]
