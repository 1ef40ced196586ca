/** What `JournalStore.look` and `leave` must do. Node 1 looks, and node 2 has runs. */
import { assert } from "@effect/vitest"
import { JournalStore } from "@weft/core"
import { type Check, check } from "./Check.ts"
import { at, claimedAtBirth, ended, envId, nodeId, run, runIds, settled, waiting } from "./Samples.ts"
import { claimAll, type JournalStores } from "./Waiting.ts"

const leaseOf = (node: number, until: number) => ({ node_id: nodeId(node), until: at(until) })

const nothing = { orphans: false, next_due_at: null, parked: false, next_tick_at: null }

export const lookChecks: ReadonlyArray<Check<JournalStores>> = [
  check("a look at an empty store finds nothing", function* () {
    assert.deepStrictEqual(yield* JournalStore.use((journal) => journal.look(nodeId(1), at(1000))), nothing)
  }),

  check("a look finds what a dead node left, and nothing of it once it is reaped and settled", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedAtBirth(1, 2)], leaseOf(2, 500))
    assert.deepStrictEqual(yield* journal.look(nodeId(1), at(1000)), { ...nothing, orphans: true })
    yield* journal.reap(nodeId(1), at(1000), 100)
    assert.deepStrictEqual(yield* journal.look(nodeId(1), at(1000)), { ...nothing, next_due_at: at(1000) })
    const { claims } = yield* claimAll(at(1000), { lease: leaseOf(1, 9000), runIds: runIds(700, 1) })
    assert.deepStrictEqual(yield* journal.look(nodeId(1), at(2000)), nothing)
    yield* journal.commit(
      claims.map((claim) => settled(1, ended(claim.run))),
      null
    )
    assert.deepStrictEqual(yield* journal.look(nodeId(1), at(9_000_000)), nothing)
  }),

  check("a look does not take its own runs for those of the dead, and finds runs without a delivery", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([{ _tag: "Started", run: run(3) }], leaseOf(1, 500))
    assert.deepStrictEqual(yield* journal.look(nodeId(1), at(1000)), nothing)
    yield* journal.commit([{ _tag: "Started", run: run(4, { node_id: nodeId(2) }) }], leaseOf(2, 500))
    assert.deepStrictEqual(yield* journal.look(nodeId(1), at(1000)), { ...nothing, orphans: true })
  }),

  check("a look tells when the next delivery is due, of all environments, and changes nothing", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      [waiting(1, { created_at: at(900) }), waiting(2, { env_id: envId(2), created_at: at(700) })],
      null
    )
    for (const now of [0, 800, 5000]) {
      assert.deepStrictEqual(yield* journal.look(nodeId(1), at(now)), { ...nothing, next_due_at: at(700) })
    }
    assert.strictEqual((yield* claimAll(at(1000))).claims.length, 2)
  }),

  check("a look finds parked deliveries, which are not due", function* () {
    const journal = yield* JournalStore
    const member = (n: number) => waiting(n, { created_at: at(0) }, { group: { key: "g", limit: 1 } })
    yield* journal.commit([member(1), member(2)], null)
    const { claims } = yield* claimAll(at(100))
    assert.deepStrictEqual([claims.length, yield* journal.look(nodeId(1), at(100))], [1, { ...nothing, parked: true }])
  })
]

/** For stores that several nodes may use. */
export const leaveChecks: ReadonlyArray<Check<JournalStores>> = [
  check("a node that lives is not taken for dead by a look", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedAtBirth(1, 2)], leaseOf(2, 500))
    assert.deepStrictEqual(yield* journal.look(nodeId(1), at(500)), nothing)
  }),

  check("what a node holds that leaves is for the others at once, and nobody else's", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedAtBirth(1, 2)], leaseOf(2, 500))
    yield* journal.commit([claimedAtBirth(2, 3)], leaseOf(3, 500))
    yield* journal.leave(nodeId(2))
    assert.strictEqual((yield* journal.look(nodeId(1), at(10))).orphans, true)
    const lost = yield* journal.reap(nodeId(1), at(10), 100)
    assert.deepStrictEqual(
      lost.map((lostRun) => lostRun.node_id),
      [nodeId(2)]
    )
  }),

  check("a node may leave that has no lease, and come back", function* () {
    const journal = yield* JournalStore
    yield* journal.leave(nodeId(2))
    yield* journal.commit([claimedAtBirth(1, 2)], leaseOf(2, 500))
    assert.strictEqual((yield* journal.look(nodeId(1), at(10))).orphans, false)
  })
]
