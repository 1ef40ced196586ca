/**
 * Contract of `JournalStore`. Adapters run this suite; they do not copy it.
 *
 * The checks read with `EventStore` and `RunStore` on the same database, and find pending deliveries with `claim`. Time
 * is a parameter of the store, so no test sleeps or moves a clock.
 */
import { assert } from "@effect/vitest"
import { EventStore, type JournalEntry, JournalStore, RunStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import { claimChecks } from "./JournalClaimChecks.ts"
import { followUpChecks } from "./JournalFollowUpChecks.ts"
import { groupChecks } from "./JournalGroupChecks.ts"
import { leaveChecks, lookChecks } from "./JournalLookChecks.ts"
import { purgeChecks } from "./JournalPurgeChecks.ts"
import { aloneChecks, leaseChecks, reapChecks } from "./JournalReapChecks.ts"
import { recordChecks } from "./JournalRecordChecks.ts"
import {
  at,
  bigJson,
  claimedOnInsert,
  delivery,
  deliveryId,
  ended,
  envId,
  event,
  eventId,
  everything,
  hostileText,
  logLine,
  nodeId,
  run,
  runHolding,
  runId,
  settled,
  waiting
} from "./Samples.ts"

export interface JournalStoreOptions {
  /** True if only one node at a time can use the store. */
  readonly exclusive: boolean
}

export const journalStoreContract = <E>(
  adapter: string,
  layer: Layer.Layer<JournalStores, E>,
  options: JournalStoreOptions
) => suite(`JournalStore contract: ${adapter}`, journalStoreChecks(options), layer)

const appending: ReadonlyArray<Check<JournalStores>> = [
  check("stores and counts an event without deliveries", function* () {
    const journal = yield* JournalStore
    assert.deepStrictEqual(yield* journal.commit([{ _tag: "Appended", event: event(1), deliveries: [] }], null), [true])
    assert.deepStrictEqual(yield* (yield* EventStore).get(envId(1), eventId(1)), event(1))
    assert.deepStrictEqual(yield* claimAll(at(1000)), { claims: [], parked: 0, unparked: 0, next_due_at: null })
  }),

  check("accepts an empty commit", function* () {
    const journal = yield* JournalStore
    assert.deepStrictEqual(yield* journal.commit([], null), [])
    assert.deepStrictEqual(yield* journal.commit([], { node_id: nodeId(1), until: at(1) }), [])
  }),

  check("stores a delivery claimed on insert with its running run", function* () {
    const journal = yield* JournalStore
    assert.deepStrictEqual(yield* journal.commit([claimedOnInsert(1)], null), [true])
    const held = delivery(1)
    assert.deepStrictEqual(yield* (yield* RunStore).get(envId(1), runId(1)), runHolding(1, held))
    assert.deepStrictEqual(yield* claimAll(at(1000)), { claims: [], parked: 0, unparked: 0, next_due_at: null })
  }),

  check("stores an event with many deliveries, pending and claimed", function* () {
    const journal = yield* JournalStore
    const published = event(1, { event_data: bigJson })
    const deliveries = [1, 2, 3].map((n) => {
      const intent = delivery(n, published, { var: `handler ${n}` })
      return { delivery: intent, run: n === 2 ? runHolding(2, intent) : null }
    })
    yield* journal.commit([{ _tag: "Appended", event: published, deliveries }], null)
    const { claims } = yield* claimAll(at(1000))
    assert.sameMembers(
      claims.map((claim) => claim.delivery.delivery_id),
      [deliveryId(1), deliveryId(3)]
    )
    assert.isTrue(claims.every((claim) => claim.event.event_data === bigJson))
    assert.strictEqual((yield* (yield* RunStore).list(envId(1), everything, { eventId: eventId(1) })).total, 3)
  }),

  check("keeps an event that is already stored, and delivers nothing twice", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1), waiting(2)], null)
    yield* journal.commit([settled(1, ended(run(1)))], null)
    const again: ReadonlyArray<JournalEntry> = [
      claimedOnInsert(1, 1, { event_type: "changed" }),
      waiting(2, { event_type: "changed" }),
      waiting(3),
      waiting(3, { event_type: "changed" })
    ]
    assert.deepStrictEqual(yield* journal.commit(again, null), [true, true, true, true])
    const types = (yield* (yield* EventStore).list(envId(1), everything)).items.map((item) => item.event_type)
    assert.deepStrictEqual(types, ["order:created", "order:created", "order:created"])
    const { claims } = yield* claimAll(at(1000))
    assert.deepStrictEqual(claims.map((claim) => claim.event.event_id).sort(), [eventId(2), eventId(3)])
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).succeeded, 1)
  }),

  check("commits a thousand entries at once, with a result for each", function* () {
    const journal = yield* JournalStore
    const count = 1000
    const numbers = Array.from({ length: count }, (_, index) => index + 1)
    const appended = yield* journal.commit(
      numbers.map((n) => claimedOnInsert(n, 1, { env_id: envId(1 + (n % 3)) })),
      null
    )
    assert.deepStrictEqual(
      appended,
      numbers.map(() => true)
    )
    // Every tenth settlement is by a run that does not hold the delivery.
    const settlements = numbers.map((n) => {
      const held = delivery(n, event(n, { env_id: envId(1 + (n % 3)) }))
      return settled(n, ended(runHolding(n % 10 === 0 ? n + count : n, held), { cpu_ms: n / 8 }), null, [
        logLine(0, `of ${n}`)
      ])
    })
    assert.deepStrictEqual(
      yield* journal.commit(settlements, null),
      numbers.map((n) => n % 10 !== 0)
    )
    const store = yield* RunStore
    const states = yield* Effect.forEach([1, 2, 3], (n) => store.stats(envId(n)))
    assert.strictEqual(
      states.reduce((sum, stats) => sum + stats.succeeded, 0),
      900
    )
    assert.strictEqual(
      states.reduce((sum, stats) => sum + stats.running, 0),
      100
    )
    assert.strictEqual((yield* store.get(envId(2), runId(997))).cpu_ms, 997 / 8)
    assert.strictEqual((yield* store.logs(envId(2), runId(997), everything)).items[0]?.message, "of 997")
  })
]

const running: ReadonlyArray<Check<JournalStores>> = [
  check("a run without a delivery is running from Started to Ended", function* () {
    const journal = yield* JournalStore
    const store = yield* RunStore
    assert.deepStrictEqual(yield* journal.commit([{ _tag: "Started", run: run(1) }], null), [true])
    assert.deepStrictEqual(yield* store.get(envId(1), runId(1)), run(1))
    const over = ended(run(1), { status: "failed" })
    assert.deepStrictEqual(yield* journal.commit([{ _tag: "Ended", run: over, logs: [logLine(0)] }], null), [true])
    assert.deepStrictEqual(yield* store.get(envId(1), runId(1)), over)
    assert.deepStrictEqual((yield* store.logs(envId(1), runId(1), everything)).items, [logLine(0)])
  }),

  check("Ended stores a run completely without a Started", function* () {
    const journal = yield* JournalStore
    const store = yield* RunStore
    const over = ended(run(1, { ns: hostileText, origin_run_id: runId(7) }))
    assert.deepStrictEqual(yield* journal.commit([{ _tag: "Ended", run: over, logs: [logLine(0)] }], null), [true])
    assert.deepStrictEqual(yield* store.get(envId(1), runId(1)), over)
    assert.strictEqual((yield* store.logs(envId(1), runId(1), everything)).total, 1)
  }),

  check("accepts the start and end of a run in one commit", function* () {
    const journal = yield* JournalStore
    const entries: ReadonlyArray<JournalEntry> = [
      { _tag: "Started", run: run(1) },
      { _tag: "Ended", run: ended(run(2)), logs: [] },
      { _tag: "Ended", run: ended(run(1)), logs: [logLine(0)] }
    ]
    assert.deepStrictEqual(yield* journal.commit(entries, null), [true, true, true])
    assert.deepStrictEqual((yield* (yield* RunStore).list(envId(1), everything, {})).items, [
      ended(run(2)),
      ended(run(1))
    ])
  }),

  check("ignores a Started after its Ended", function* () {
    const journal = yield* JournalStore
    const entries: ReadonlyArray<JournalEntry> = [
      { _tag: "Ended", run: ended(run(1)), logs: [] },
      { _tag: "Started", run: run(1) }
    ]
    assert.deepStrictEqual(yield* journal.commit(entries, null), [true, true])
    assert.deepStrictEqual(yield* journal.commit([{ _tag: "Started", run: run(1) }], null), [true])
    assert.deepStrictEqual(yield* (yield* RunStore).get(envId(1), runId(1)), ended(run(1)))
  }),

  check("ignores a repeated Started", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([{ _tag: "Started", run: run(1) }], null)
    yield* journal.commit([{ _tag: "Started", run: run(1, { project_name: "changed", start_time: at(99) }) }], null)
    assert.deepStrictEqual(yield* (yield* RunStore).get(envId(1), runId(1)), run(1))
  }),

  check("ignores later ends of an ended run", function* () {
    const journal = yield* JournalStore
    const store = yield* RunStore
    const first: JournalEntry = { _tag: "Ended", run: ended(run(1)), logs: [logLine(0)] }
    const second: JournalEntry = {
      _tag: "Ended",
      run: ended(run(1), { status: "failed" }),
      logs: [logLine(0), logLine(1)]
    }
    assert.deepStrictEqual(yield* journal.commit([first, second], null), [true, false])
    assert.deepStrictEqual(yield* journal.commit([second], null), [false])
    assert.deepStrictEqual(yield* store.get(envId(1), runId(1)), ended(run(1)))
    assert.strictEqual((yield* store.logs(envId(1), runId(1), everything)).total, 1)
  }),

  check("changes only the result fields of a run at its end", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([{ _tag: "Started", run: run(1) }], null)
    const over = ended(run(1, { project_name: "x", ns: "x", start_time: at(77), attempt: 9, node_id: nodeId(9) }))
    yield* journal.commit([{ _tag: "Ended", run: over, logs: [] }], null)
    assert.deepStrictEqual(yield* (yield* RunStore).get(envId(1), runId(1)), ended(run(1), { stop_time: at(82) }))
  }),

  check("does not end a run from another environment", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([{ _tag: "Started", run: run(1) }, claimedOnInsert(2)], null)
    const foreign = { env_id: envId(2) }
    yield* journal.commit([{ _tag: "Ended", run: ended(run(1, foreign)), logs: [logLine(0)] }], null)
    assert.deepStrictEqual(yield* journal.commit([settled(2, ended(run(2, foreign)))], null), [false])
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).running, 2)
  })
]

const settling: ReadonlyArray<Check<JournalStores>> = [
  check("removes a settled delivery without a next attempt", function* () {
    const journal = yield* JournalStore
    const store = yield* RunStore
    yield* journal.commit([claimedOnInsert(1), claimedOnInsert(2)], null)
    const over = ended(runHolding(1, delivery(1)))
    assert.deepStrictEqual(yield* journal.commit([settled(1, over, null, [logLine(0), logLine(1)])], null), [true])
    assert.deepStrictEqual(yield* store.get(envId(1), runId(1)), over)
    assert.strictEqual((yield* store.logs(envId(1), runId(1), everything)).total, 2)
    assert.strictEqual((yield* store.get(envId(1), runId(2))).status, "running")
    assert.deepStrictEqual(yield* claimAll(at(1_000_000)), { claims: [], parked: 0, unparked: 0, next_due_at: null })
  }),

  check("requeues a settled delivery with a next attempt", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1)], null)
    const next = { attempt: 2, due_at: at(500), first_run_id: runId(1) }
    const over = ended(runHolding(1, delivery(1)), { status: "failed" })
    assert.deepStrictEqual(yield* journal.commit([settled(1, over, next)], null), [true])
    assert.deepStrictEqual(yield* claimAll(at(499)), { claims: [], parked: 0, unparked: 0, next_due_at: at(500) })
    const { claims } = yield* claimAll(at(500))
    assert.deepStrictEqual(claims[0]?.delivery, delivery(1, event(1), next))
    assert.strictEqual(claims[0]?.run.origin_run_id, runId(1))
    assert.strictEqual(claims[0]?.run.attempt, 2)
  }),

  check("accepts the append and settlement of an event in one commit", function* () {
    const journal = yield* JournalStore
    const entries = [claimedOnInsert(1), settled(1, ended(run(1))), claimedOnInsert(2)]
    assert.deepStrictEqual(yield* journal.commit(entries, null), [true, true, true])
    assert.strictEqual((yield* (yield* RunStore).get(envId(1), runId(1))).status, "succeeded")
    assert.strictEqual((yield* (yield* RunStore).get(envId(1), runId(2))).status, "running")
  }),

  check("settles a delivery only for the run that holds it", function* () {
    const journal = yield* JournalStore
    const store = yield* RunStore
    yield* journal.commit([claimedOnInsert(1), claimedOnInsert(2), { _tag: "Started", run: run(3) }, waiting(4)], null)
    const attempts = [
      settled(1, ended(run(2)), null, [logLine(0)]),
      settled(1, ended(run(3))),
      settled(4, ended(run(3))),
      settled(4, ended(run(4))),
      settled(404, ended(run(1)))
    ]
    assert.deepStrictEqual(yield* journal.commit(attempts, null), [false, false, false, false, false])
    assert.strictEqual((yield* store.stats(envId(1))).running, 3)
    assert.strictEqual((yield* store.logs(envId(1), runId(2), everything)).total, 0)
    assert.strictEqual((yield* claimAll(at(1000))).claims.length, 1)
  }),

  check("applies a settlement once", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1)], null)
    const next = { attempt: 2, due_at: at(500), first_run_id: runId(1) }
    const failed = settled(1, ended(runHolding(1, delivery(1)), { status: "failed" }), next)
    const done = settled(1, ended(runHolding(1, delivery(1))))
    assert.deepStrictEqual(yield* journal.commit([failed, done], null), [true, false])
    assert.deepStrictEqual(yield* journal.commit([done], null), [false])
    assert.strictEqual((yield* (yield* RunStore).get(envId(1), runId(1))).status, "failed")
    assert.strictEqual((yield* claimAll(at(500))).claims.length, 1)
  })
]

export const journalStoreChecks = ({ exclusive }: JournalStoreOptions): ReadonlyArray<Check<JournalStores>> => [
  ...appending,
  ...running,
  ...settling,
  ...recordChecks,
  ...followUpChecks,
  ...claimChecks,
  ...groupChecks,
  ...reapChecks,
  ...lookChecks,
  ...purgeChecks,
  ...(exclusive ? aloneChecks : [...leaseChecks, ...leaveChecks])
]
