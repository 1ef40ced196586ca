/** Contract of `JournalStore` for groups: deliveries whose runs share a limit. */
import { assert } from "@effect/vitest"
import { type Delivery, type Group, type JournalEntry, JournalStore, type Run } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import {
  at,
  delivery,
  deliveryId,
  ended,
  envId,
  event,
  hostileText,
  nodeId,
  runHolding,
  runId,
  runIds,
  settled,
  waiting
} from "./Samples.ts"

const key = "project/main/onOrder"

/** Delivery `n` is pending in the group, due at `due`. */
const member = (n: number, limit: number, due = 0, of = key, env = 1): JournalEntry =>
  waiting(n, { env_id: envId(env), created_at: at(due) }, { group: { key: of, limit } })

const toGroup = (of = key, env = 1): Group => ({ env_id: envId(env), key: of })

/** Claims deliveries at `now`, with runs numbered from `first` on. Returns the ids of the deliveries. */
const claimAt = (now: number, first: number, limit = 100, freed: ReadonlyArray<Group> = []) =>
  Effect.map(claimAll(at(now), { runIds: runIds(first, limit), freed }), (result) => ({
    ...result,
    ids: result.claims.map((claim) => claim.delivery.delivery_id).sort()
  }))

const ids = (...numbers: ReadonlyArray<number>) => numbers.map(deliveryId)

/** Ends the run that holds the delivery. */
const settle = Effect.fnUntraced(function* (
  claims: ReadonlyArray<{ readonly delivery: Delivery; readonly run: Run }>,
  n: number
) {
  const claim = claims.find((one) => one.delivery.delivery_id === deliveryId(n))
  assert.isDefined(claim)
  assert.deepStrictEqual(yield* (yield* JournalStore).commit([settled(n, ended(claim.run))], null), [true])
})

const claiming: ReadonlyArray<Check<JournalStores>> = [
  check("claims the oldest deliveries of a group up to its limit, and parks the others", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([member(3, 2), member(1, 2), member(4, 2), member(2, 2)], null)
    const first = yield* claimAt(100, 1000)
    assert.deepStrictEqual(first.ids, ids(1, 2))
    assert.deepStrictEqual([first.parked, first.next_due_at], [2, null])
    assert.deepStrictEqual(first.claims[0]?.delivery.group, { key, limit: 2 })
    const second = yield* claimAt(200, 2000)
    assert.deepStrictEqual([second.ids, second.parked, second.next_due_at], [[], 0, null])
  }),

  check("keeps a delivery parked until it is unparked, whichever runs end", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([member(1, 1), member(2, 1)], null)
    const { claims } = yield* claimAt(100, 1000)
    assert.deepStrictEqual((yield* claimAt(200, 2000)).ids, [])
    yield* settle(claims, 1)
    assert.deepStrictEqual((yield* claimAt(300, 3000)).ids, [])
    assert.strictEqual(yield* journal.unpark([toGroup()], at(400)), 1)
    const again = yield* claimAt(400, 4000)
    assert.deepStrictEqual(again.ids, ids(2))
    assert.strictEqual(again.claims[0]?.delivery.due_at, at(400))
  }),

  check("counts deliveries claimed on insert and by other claims toward the limit", function* () {
    const journal = yield* JournalStore
    const published = event(1)
    const held = delivery(1, published, { group: { key, limit: 2 } })
    const claimed = runHolding(1, held, { node_id: nodeId(2) })
    yield* journal.commit(
      [{ _tag: "Appended", event: published, deliveries: [{ delivery: held, run: claimed }] }],
      null
    )
    yield* journal.commit([member(2, 2)], null)
    assert.deepStrictEqual((yield* claimAt(100, 1000)).ids, ids(2))
    yield* journal.commit([member(3, 2)], null)
    assert.deepStrictEqual((yield* claimAt(100, 2000)).ids, [])
  }),

  check("limits each group of an environment separately", function* () {
    const journal = yield* JournalStore
    const other = `${hostileText}#1`
    yield* journal.commit(
      [member(1, 1), member(2, 1), member(3, 1, 0, other), member(4, 1, 0, other), waiting(5), member(6, 1, 0, key, 2)],
      null
    )
    const { ids: claimed, parked, next_due_at } = yield* claimAt(100, 1000)
    assert.deepStrictEqual(claimed, ids(1, 3, 5, 6))
    assert.deepStrictEqual([parked, next_due_at], [2, null])
  }),

  check("does not block other deliveries of an environment behind a full group", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([member(1, 1)], null)
    yield* claimAt(0, 500)
    const flood = Array.from({ length: 50 }, (_, index) => member(index + 2, 1))
    yield* journal.commit([...flood, waiting(90, { created_at: at(50) })], null)
    const claimed: Array<string> = []
    // Each claim makes progress, even if it reads few deliveries.
    for (let round = 1; round <= 60; round++) {
      const result = yield* claimAt(100, 1000 * round, 2)
      claimed.push(...result.ids)
      if (result.next_due_at === null) break
      assert.isAbove(result.claims.length + result.parked, 0)
    }
    assert.deepStrictEqual(claimed, ids(90))
  }),

  check("never starts a younger delivery before a parked one, even below the limit", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([member(1, 1), member(2, 1)], null)
    const { claims } = yield* claimAt(100, 1000)
    yield* settle(claims, 1)
    yield* journal.commit([member(3, 1)], null)
    assert.deepStrictEqual((yield* claimAt(200, 2000)).ids, [])
    assert.strictEqual(yield* journal.unpark([toGroup()], at(300)), 1)
    assert.deepStrictEqual((yield* claimAt(300, 3000)).ids, ids(2))
  }),

  check("does not count deliveries that are due later", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([member(1, 1, 500), member(2, 1)], null)
    const first = yield* claimAt(100, 1000)
    assert.deepStrictEqual([first.ids, first.next_due_at], [ids(2), at(500)])
    const second = yield* claimAt(500, 2000)
    assert.deepStrictEqual([second.ids, second.parked, second.next_due_at], [[], 1, null])
  }),

  check("applies the limit of each delivery's own build, in order of age", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([member(1, 3), member(2, 3), member(3, 1), member(4, 3)], null)
    const { claims, ids: claimed, parked } = yield* claimAt(100, 1000)
    assert.deepStrictEqual([claimed, parked], [ids(1, 2), 2])
    yield* settle(claims, 1)
    assert.strictEqual(yield* journal.unpark([toGroup()], at(200)), 0)
    yield* settle(claims, 2)
    assert.strictEqual(yield* journal.unpark([toGroup()], at(300)), 2)
    assert.deepStrictEqual((yield* claimAt(300, 2000)).ids, ids(3, 4))
  })
]

const unparking: ReadonlyArray<Check<JournalStores>> = [
  check("unparks the oldest deliveries up to the limit, and once", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      Array.from({ length: 7 }, (_, index) => member(index + 1, 3)),
      null
    )
    const { claims } = yield* claimAt(100, 1000)
    assert.strictEqual(yield* journal.unpark([toGroup()], at(100)), 0)
    yield* settle(claims, 1)
    yield* settle(claims, 3)
    assert.strictEqual(yield* journal.unpark([toGroup(), toGroup("unknown"), toGroup(key, 2)], at(200)), 2)
    assert.strictEqual(yield* journal.unpark([toGroup()], at(200)), 0)
    assert.deepStrictEqual((yield* claimAt(200, 2000)).ids, ids(4, 5))
  }),

  check("a claim unparks the deliveries of freed groups and claims them", function* () {
    const journal = yield* JournalStore
    const others = [member(5, 1, 0, "b"), member(6, 1, 0, "b")]
    yield* journal.commit([...[1, 2, 3, 4].map((n) => member(n, 2)), ...others], null)
    const first = yield* claimAt(100, 1000)
    assert.deepStrictEqual([first.ids, first.unparked], [ids(1, 2, 5), 0])
    yield* settle(first.claims, 1)
    yield* settle(first.claims, 5)
    const second = yield* claimAt(200, 2000, 100, [toGroup(), toGroup("unknown"), toGroup(key, 2)])
    assert.deepStrictEqual([second.ids, second.parked, second.unparked, second.next_due_at], [ids(3), 0, 1, null])
    assert.strictEqual(second.claims[0]?.delivery.due_at, at(200))
    assert.deepStrictEqual(yield* journal.parked(null, 10), [toGroup("b"), toGroup()])
  }),

  check("leaves unparked deliveries that a claim does not take due for the next one", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([member(1, 1), member(2, 1), waiting(9)], null)
    const { claims } = yield* claimAt(100, 1000)
    yield* settle(claims, 1)
    yield* journal.commit([waiting(10), waiting(11)], null)
    const full = { runIds: runIds(2000, 5), exclude: [envId(1)], freed: [toGroup()] }
    const { claims: none, unparked } = yield* claimAll(at(200), full)
    assert.deepStrictEqual([none, unparked], [[], 1])
    assert.deepStrictEqual((yield* claimAt(300, 3000)).ids, ids(2, 10, 11))
  }),

  check("unparks only the named groups of each environment", function* () {
    const journal = yield* JournalStore
    const others = [member(11, 1, 0, key, 2), member(12, 1, 0, key, 2), member(21, 1, 0, "b"), member(22, 1, 0, "b")]
    yield* journal.commit([member(1, 1), member(2, 1), ...others], null)
    const { claims } = yield* claimAt(100, 1000)
    yield* journal.commit(
      claims.map(({ delivery: { delivery_id: deliveryId }, run }) => ({
        _tag: "Settled",
        run: ended(run),
        logs: [],
        deliveryId,
        next: null
      })),
      null
    )
    assert.strictEqual(yield* journal.unpark([toGroup()], at(200)), 1)
    assert.deepStrictEqual((yield* claimAt(200, 2000)).ids, ids(2))
    assert.deepStrictEqual(yield* journal.parked(null, 10), [toGroup("b"), toGroup(key, 2)])
  }),

  check("does not count a retry before it is due, and then orders it by age", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([member(1, 1), member(2, 1), member(3, 1)], null)
    const first = yield* claimAt(100, 1000)
    const run = first.claims[0]?.run ?? runHolding(1, delivery(1))
    const next = { attempt: 2, due_at: at(300), first_run_id: run.run_id }
    yield* journal.commit([settled(1, ended(run, { status: "failed" }), next)], null)
    assert.strictEqual(yield* journal.unpark([toGroup()], at(200)), 1)
    const second = yield* claimAt(200, 2000)
    assert.deepStrictEqual(second.ids, ids(2))
    assert.strictEqual((yield* claimAt(300, 3000)).parked, 1)
    yield* settle(second.claims, 2)
    assert.strictEqual(yield* journal.unpark([toGroup()], at(400)), 1)
    const third = yield* claimAt(400, 4000)
    assert.deepStrictEqual(
      third.claims.map((claim) => claim.delivery),
      [delivery(1, event(1, { created_at: at(0) }), { group: { key, limit: 1 }, ...next, due_at: at(400) })]
    )
  }),

  check("frees the slots of a dead node", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([member(1, 1), member(2, 1)], null)
    yield* claimAll(at(10), { lease: { node_id: nodeId(2), until: at(500) }, runIds: runIds(700, 9) })
    const lost = yield* journal.reap(nodeId(1), at(1000), 100)
    assert.deepStrictEqual(
      lost.map((run) => run.run_id),
      [runId(700)]
    )
    const again = yield* claimAt(1000, 2000)
    assert.deepStrictEqual(again.ids, ids(1))
    yield* settle(again.claims, 1)
    assert.strictEqual(yield* journal.unpark([toGroup()], at(1100)), 1)
    assert.deepStrictEqual((yield* claimAt(1100, 3000)).ids, ids(2))
  }),

  check("lists groups with parked deliveries in order, in pages", function* () {
    const journal = yield* JournalStore
    assert.deepStrictEqual(yield* journal.parked(null, 10), [])
    const keys = ["b", hostileText, "a", "c"]
    yield* journal.commit(
      [1, 2].flatMap((env) =>
        keys.flatMap((of, index) => [
          member(env * 100 + index * 3, 1, 0, of, env),
          member(env * 100 + index * 3 + 1, 1, 0, of, env),
          member(env * 100 + index * 3 + 2, 1, 0, of, env)
        ])
      ),
      null
    )
    yield* journal.commit([member(900, 1, 0, "alone"), member(901, 1, 9000, "later")], null)
    assert.deepStrictEqual(yield* journal.parked(null, 10), [])
    yield* claimAt(100, 1000)
    const expected = [1, 2].flatMap((env) => [...keys].sort().map((of) => toGroup(of, env)))
    assert.deepStrictEqual(yield* journal.parked(null, 10), expected)
    assert.deepStrictEqual(yield* journal.parked(null, 3), expected.slice(0, 3))
    assert.deepStrictEqual(yield* journal.parked(expected[2] ?? null, 3), expected.slice(3, 6))
    assert.deepStrictEqual(yield* journal.parked(expected[7] ?? null, 3), [])
  }),

  check("concurrent claims take no more of a group together than its limit", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      Array.from({ length: 40 }, (_, index) => member(index + 1, 5)),
      null
    )
    const results = yield* Effect.forEach(
      Array.from({ length: 8 }, (_, index) => index + 1),
      (n) => claimAll(at(100), { lease: { node_id: nodeId(n), until: at(9000) }, runIds: runIds(1000 * n, 10) }),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(
      results.reduce((sum, { claims }) => sum + claims.length, 0),
      5
    )
  })
]

export const groupChecks: ReadonlyArray<Check<JournalStores>> = [...claiming, ...unparking]
