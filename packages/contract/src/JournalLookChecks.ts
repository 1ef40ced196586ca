/** Contract of `JournalStore.look` and `leave`. Node 1 calls `look`, and node 2 has runs. */
import { assert } from "@effect/vitest"
import { JournalStore } from "@weft/core/adapter"
import { type Check, check } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import { at, claimedOnInsert, ended, envId, nodeId, run, runIds, settled, waiting } from "./Samples.ts"

const makeLease = (node: number, until: number) => ({ node_id: nodeId(node), until: at(until) })

const nothing = {
  orphans: false,
  next_due_at: null,
  parked: false,
  next_tick_at: null,
  removals: false,
  previews: false,
  awaiting: false,
  invoking: false,
  operations: false,
  next_alert_at: null,
  pauses_version: "0:0",
  canaries_version: "0:0"
}

export const lookChecks: ReadonlyArray<Check<JournalStores>> = [
  check("look finds nothing in an empty store", function* () {
    assert.deepStrictEqual(yield* JournalStore.use((journal) => journal.findPendingWork(nodeId(1), at(1000))), nothing)
  }),

  check("look finds runs of a dead node until they are reaped and settled", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1, 2)], makeLease(2, 500))
    assert.deepStrictEqual(yield* journal.findPendingWork(nodeId(1), at(1000)), { ...nothing, orphans: true })
    yield* journal.reap(nodeId(1), at(1000), 100)
    assert.deepStrictEqual(yield* journal.findPendingWork(nodeId(1), at(1000)), { ...nothing, next_due_at: at(1000) })
    const { claims } = yield* claimAll(at(1000), { lease: makeLease(1, 9000), runIds: runIds(700, 1) })
    assert.deepStrictEqual(yield* journal.findPendingWork(nodeId(1), at(2000)), nothing)
    yield* journal.commit(
      claims.map((claim) => settled(1, ended(claim.run))),
      null
    )
    assert.deepStrictEqual(yield* journal.findPendingWork(nodeId(1), at(9_000_000)), nothing)
  }),

  check("look ignores the node's own runs, and finds lost runs without a delivery", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([{ _tag: "Started", run: run(3) }], makeLease(1, 500))
    assert.deepStrictEqual(yield* journal.findPendingWork(nodeId(1), at(1000)), nothing)
    yield* journal.commit([{ _tag: "Started", run: run(4, { node_id: nodeId(2) }) }], makeLease(2, 500))
    assert.deepStrictEqual(yield* journal.findPendingWork(nodeId(1), at(1000)), { ...nothing, orphans: true })
  }),

  check("look returns when the next delivery of any environment is due, and changes nothing", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      [waiting(1, { created_at: at(900) }), waiting(2, { env_id: envId(2), created_at: at(700) })],
      null
    )
    for (const now of [0, 800, 5000]) {
      assert.deepStrictEqual(yield* journal.findPendingWork(nodeId(1), at(now)), { ...nothing, next_due_at: at(700) })
    }
    assert.strictEqual((yield* claimAll(at(1000))).claims.length, 2)
  }),

  check("look finds parked deliveries, which are not due", function* () {
    const journal = yield* JournalStore
    const member = (n: number) => waiting(n, { created_at: at(0) }, { group: { key: "g", limit: 1 } })
    yield* journal.commit([member(1), member(2)], null)
    const { claims } = yield* claimAll(at(100))
    assert.deepStrictEqual(
      [claims.length, yield* journal.findPendingWork(nodeId(1), at(100))],
      [1, { ...nothing, parked: true }]
    )
  })
]

/** Checks for stores that several nodes may use. */
export const leaveChecks: ReadonlyArray<Check<JournalStores>> = [
  check("look does not report runs of a living node", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1, 2)], makeLease(2, 500))
    assert.deepStrictEqual(yield* journal.findPendingWork(nodeId(1), at(500)), nothing)
  }),

  check("leave releases the runs of the node immediately, and no others", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1, 2)], makeLease(2, 500))
    yield* journal.commit([claimedOnInsert(2, 3)], makeLease(3, 500))
    yield* journal.endLease(nodeId(2))
    assert.strictEqual((yield* journal.findPendingWork(nodeId(1), at(10))).orphans, true)
    const lost = yield* journal.reap(nodeId(1), at(10), 100)
    assert.deepStrictEqual(
      lost.map((lostRun) => lostRun.node_id),
      [nodeId(2)]
    )
  }),

  check("leave succeeds without a lease, and the node may return", function* () {
    const journal = yield* JournalStore
    yield* journal.endLease(nodeId(2))
    yield* journal.commit([claimedOnInsert(1, 2)], makeLease(2, 500))
    assert.strictEqual((yield* journal.findPendingWork(nodeId(1), at(10))).orphans, false)
  })
]
