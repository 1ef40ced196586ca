/** Contract of `JournalStore.reap`. In all checks, node 1 reaps, and node 2 is dead at 1,000. */
import { assert } from "@effect/vitest"
import { JournalStore, RunStore } from "@weft/core/adapter"
import { Effect, Schema } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import {
  at,
  claimedOnInsert,
  delivery,
  ended,
  envId,
  event,
  nodeId,
  run,
  runHolding,
  runId,
  runIds,
  settled,
  waiting
} from "./Samples.ts"

const makeLease = (node: number, until: number) => ({ node_id: nodeId(node), until: at(until) })

/** Node 2 holds deliveries 1 and 2, and run 3 without a delivery. Its lease ends at 500. */
const setUp = Effect.gen(function* () {
  const journal = yield* JournalStore
  const alone = { _tag: "Started", run: run(3, { node_id: nodeId(2) }) } as const
  yield* journal.commit([claimedOnInsert(1, 2), claimedOnInsert(2, 2), alone], makeLease(2, 500))
  return journal
})

const LostResult = Schema.fromJsonString(
  Schema.Struct({ error: Schema.Struct({ name: Schema.String, message: Schema.NonEmptyString, stack: Schema.String }) })
)

export const reapChecks: ReadonlyArray<Check<JournalStores>> = [
  check("ends the older runs of the node itself that it does not know, and no others", function* () {
    const journal = yield* JournalStore
    const mine = (n: number, start: number) =>
      ({ _tag: "Started", run: run(n, { node_id: nodeId(1), start_time: at(start) }) }) as const
    yield* journal.commit([claimedOnInsert(1, 1), mine(2, 100), mine(3, 100), mine(4, 900)], makeLease(1, 5000))
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100), [])
    const own = { before: at(900), known: [runId(3)] }
    const lost = yield* journal.reap(nodeId(1), at(1000), 100, own)
    assert.sameMembers(
      lost.map((ended) => ended.run_id),
      [runId(1), runId(2)]
    )
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100, own), [])
    const { claims } = yield* claimAll(at(1000))
    assert.deepStrictEqual(
      claims.map((claim) => claim.delivery),
      [delivery(1, event(1), { due_at: at(1000) })]
    )
  }),

  check("fails the runs of a dead node with NodeLost", function* () {
    const journal = yield* setUp
    const lost = yield* journal.reap(nodeId(1), at(1000), 100)
    assert.sameMembers(
      lost.map((ended) => ended.run_id),
      [runId(1), runId(2), runId(3)]
    )
    for (const ended of lost) {
      assert.deepStrictEqual([ended.status, ended.stop_time], ["failed", at(1000)])
      const { error } = yield* Schema.decodeUnknownEffect(LostResult)(ended.result)
      assert.deepStrictEqual([error.name, error.stack], ["NodeLost", ""])
      assert.deepStrictEqual(yield* (yield* RunStore).get(envId(1), ended.run_id), ended)
    }
    const { result } = lost.find((ended) => ended.run_id === runId(1)) ?? run(0)
    const expected = ended(runHolding(1, delivery(1), { node_id: nodeId(2) }), {
      status: "failed",
      stop_time: at(1000),
      result,
      cpu_ms: null,
      wall_ms: null,
      heap_bytes: null
    })
    assert.deepStrictEqual(yield* (yield* RunStore).get(envId(1), runId(1)), expected)
  }),

  check("requeues the deliveries of a dead node, due now, for the same attempt", function* () {
    const journal = yield* setUp
    const third = { attempt: 3, first_run_id: runId(80) }
    const published = event(4)
    const held = delivery(4, published, third)
    const claimed = runHolding(4, held, { node_id: nodeId(2), attempt: 3 })
    yield* journal.commit(
      [{ _tag: "Appended", event: published, deliveries: [{ delivery: held, run: claimed }] }],
      null
    )
    yield* journal.reap(nodeId(1), at(1000), 100)
    assert.strictEqual((yield* claimAll(at(999))).next_due_at, at(1000))
    const { claims } = yield* claimAll(at(1000))
    assert.sameDeepMembers(
      claims.map((claim) => claim.delivery),
      [
        delivery(1, event(1), { due_at: at(1000) }),
        delivery(2, event(2), { due_at: at(1000) }),
        delivery(4, published, { ...third, due_at: at(1000) })
      ]
    )
    const again = claims.find((claim) => claim.delivery.attempt === 3)
    assert.deepStrictEqual([again?.run.attempt, again?.run.origin_run_id], [3, runId(80)])
  }),

  check("rejects writes of a node that was declared dead", function* () {
    const journal = yield* setUp
    yield* journal.reap(nodeId(1), at(1000), 100)
    const before = yield* (yield* RunStore).get(envId(1), runId(1))
    const late = [
      settled(1, ended(run(1))),
      settled(2, ended(run(2)), { attempt: 2, due_at: at(9), first_run_id: runId(2) }),
      { _tag: "Ended", run: ended(run(3)), logs: [] } as const
    ]
    assert.deepStrictEqual(yield* journal.commit(late, makeLease(2, 9000)), [false, false, false])
    const { claims } = yield* claimAll(at(1000))
    assert.strictEqual(claims.length, 2)
    assert.deepStrictEqual(yield* journal.commit(late, makeLease(2, 9000)), [false, false, false])
    assert.deepStrictEqual(yield* (yield* RunStore).get(envId(1), runId(1)), before)
    const counted = yield* journal.commit(
      claims.map((claim) => ({
        _tag: "Settled",
        run: ended(claim.run),
        logs: [],
        deliveryId: claim.delivery.delivery_id,
        next: null
      })),
      null
    )
    assert.deepStrictEqual(counted, [true, true])
  }),

  check("reap ends at most limit runs, and returns none when none is left", function* () {
    const journal = yield* setUp
    const first = yield* journal.reap(nodeId(1), at(1000), 2)
    const second = yield* journal.reap(nodeId(1), at(1000), 2)
    assert.deepStrictEqual([first.length, second.length], [2, 1])
    assert.strictEqual(new Set([...first, ...second].map((ended) => ended.run_id)).size, 3)
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 2), [])
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).failed, 3)
  }),

  check("does not reap the node's own runs, even after its lease has expired", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1), { _tag: "Started", run: run(2) }], makeLease(1, 500))
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100), [])
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).running, 2)
  }),

  check("ignores ended runs and pending deliveries", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1, 2), waiting(2), settled(1, ended(run(1)))], makeLease(2, 500))
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100), [])
    assert.strictEqual((yield* (yield* RunStore).get(envId(1), runId(1))).status, "succeeded")
    assert.strictEqual((yield* claimAll(at(1000))).claims.length, 1)
  }),

  check("reaps claimed runs in the same way as those claimed on insert", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([waiting(1)], null)
    yield* claimAll(at(10), { lease: makeLease(2, 500), runIds: runIds(700, 1) })
    const lost = yield* journal.reap(nodeId(1), at(1000), 100)
    assert.deepStrictEqual(
      lost.map((ended) => ended.run_id),
      [runId(700)]
    )
    assert.strictEqual((yield* claimAll(at(1000))).claims.length, 1)
  })
]

/** Checks for stores that several nodes may use: a node is alive until its lease expires. */
export const leaseChecks: ReadonlyArray<Check<JournalStores>> = [
  check("treats a node as alive until its lease expires", function* () {
    const journal = yield* setUp
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(499), 100), [])
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(500), 100), [])
    assert.strictEqual((yield* journal.reap(nodeId(1), at(501), 100)).length, 3)
  }),

  check("renews the lease of a node with its commits and claims", function* () {
    const journal = yield* setUp
    yield* journal.commit([], makeLease(2, 2000))
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100), [])
    yield* claimAll(at(1000), { lease: makeLease(2, 4000) })
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(3000), 100), [])
    yield* journal.commit([], makeLease(1, 9000))
    assert.strictEqual((yield* journal.reap(nodeId(1), at(5000), 100)).length, 3)
  }),

  check("ignores runs of living nodes", function* () {
    const journal = yield* setUp
    yield* journal.commit([claimedOnInsert(8, 3)], makeLease(3, 5000))
    assert.strictEqual((yield* journal.reap(nodeId(1), at(1000), 100)).length, 3)
    assert.strictEqual((yield* (yield* RunStore).get(envId(1), runId(8))).status, "running")
  })
]

/** Checks for stores of a single node: every other node is dead, whatever its lease. */
export const aloneChecks: ReadonlyArray<Check<JournalStores>> = [
  check("takes over immediately for a node that has the store alone", function* () {
    const journal = yield* setUp
    assert.strictEqual((yield* journal.reap(nodeId(1), at(0), 100)).length, 3)
  })
]
