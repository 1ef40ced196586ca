/** Checks of events that are stored with the end of a run: exactly if the end counts. */
import { assert } from "@effect/vitest"
import { EventStore, type FollowUp, type JournalEntry, JournalStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import {
  at,
  claimedOnInsert,
  delivery,
  deliveryId,
  ended,
  envId,
  event,
  eventId,
  everything,
  run,
  settled
} from "./Samples.ts"

/** Event `n` about a failure, with deliveries of these numbers. */
const followUp = (n: number, deliveries: ReadonlyArray<number> = [n]): FollowUp => {
  const published = event(n, { event_type: "svc:run:failed" })
  return { event: published, deliveries: deliveries.map((id) => delivery(id, published, { var: `onFailure ${id}` })) }
}

/** The end of run `n`, with event `m`. */
const followed = (n: number, m: number, deliveries?: ReadonlyArray<number>, of = run(n)): JournalEntry => ({
  ...{ _tag: "Settled", run: ended(of, { status: "failed" }), logs: [], deliveryId: deliveryId(n), next: null },
  followUp: followUp(m, deliveries)
})

const storedTypes = Effect.flatMap(EventStore, (events) =>
  Effect.map(events.list(envId(1), everything), ({ items, total }) => ({
    types: items.map(({ event_type }) => event_type).sort(),
    total
  }))
)

const claimedIds = Effect.map(claimAll(at(1000)), ({ claims }) =>
  claims.map(({ event: { event_id } }) => event_id).sort()
)

export const followUpChecks: ReadonlyArray<Check<JournalStores>> = [
  check("stores and counts an event with the end of a run, with all of its deliveries", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1)], null)
    assert.deepStrictEqual(yield* journal.commit([followed(1, 2, [2, 3])], null), [true])
    assert.deepStrictEqual(yield* (yield* EventStore).get(envId(1), eventId(2)), followUp(2).event)
    assert.deepStrictEqual(yield* storedTypes, { types: ["order:created", "svc:run:failed"], total: 2 })
    const { claims } = yield* claimAll(at(1000))
    assert.deepStrictEqual(claims.map((claim) => claim.delivery.var).sort(), ["onFailure 2", "onFailure 3"])
  }),

  check("stores an event without deliveries with the end of a run", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1)], null)
    assert.deepStrictEqual(yield* journal.commit([followed(1, 2, [])], null), [true])
    assert.strictEqual((yield* storedTypes).total, 2)
    assert.deepStrictEqual(yield* claimedIds, [])
  }),

  check("stores the events of the runs in a batch that end, and no others", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      [1, 2, 3].map((n) => claimedOnInsert(n)),
      null
    )
    yield* journal.commit([settled(2, ended(run(2)))], null)
    const batch = [followed(1, 11), followed(2, 12), followed(3, 13), followed(3, 14), claimedOnInsert(4)]
    assert.deepStrictEqual(yield* journal.commit(batch, null), [true, false, true, false, true])
    assert.deepStrictEqual(yield* claimedIds, [eventId(11), eventId(13)])
    assert.strictEqual((yield* storedTypes).total, 6)
  }),

  check("stores no event for a run that another environment ends", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1)], null)
    assert.deepStrictEqual(yield* journal.commit([followed(1, 2, [2], run(1, { env_id: envId(2) }))], null), [false])
    assert.strictEqual((yield* storedTypes).total, 1)
    assert.deepStrictEqual(yield* claimedIds, [])
  }),

  check("stores an event once if the end of its run is written again", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1)], null)
    assert.deepStrictEqual(yield* journal.commit([followed(1, 2)], null), [true])
    assert.deepStrictEqual(yield* journal.commit([followed(1, 2)], null), [false])
    assert.strictEqual((yield* storedTypes).total, 2)
    assert.deepStrictEqual(yield* claimedIds, [eventId(2)])
  })
]
