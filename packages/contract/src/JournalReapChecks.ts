/** What `JournalStore.reap` must do. In all of them node 1 reaps, and node 2 is dead at 1,000. */
import { assert } from "@effect/vitest"
import { JournalStore, RunStore } from "@weft/core"
import { Effect, Schema } from "effect"
import { type Check, check } from "./Check.ts"
import {
  at,
  bornRun,
  claimedAtBirth,
  delivery,
  ended,
  envId,
  event,
  nodeId,
  run,
  runId,
  runIds,
  settled,
  waiting
} from "./Samples.ts"
import { claimAll, type JournalStores } from "./Waiting.ts"

const leaseOf = (node: number, until: number) => ({ node_id: nodeId(node), until: at(until) })

/** Node 2 holds deliveries 1 and 2 and runs 3 without one; its lease ends at 500. */
const setUp = Effect.gen(function* () {
  const journal = yield* JournalStore
  const alone = { _tag: "Started", run: run(3, { node_id: nodeId(2) }) } as const
  yield* journal.commit([claimedAtBirth(1, 2), claimedAtBirth(2, 2), alone], leaseOf(2, 500))
  return journal
})

const LostResult = Schema.fromJsonString(
  Schema.Struct({ error: Schema.Struct({ name: Schema.String, message: Schema.NonEmptyString, stack: Schema.String }) })
)

export const reapChecks: ReadonlyArray<Check<JournalStores>> = [
  check("a node that says what it knows of loses the older runs that it does not know of, and no others", function* () {
    const journal = yield* JournalStore
    const mine = (n: number, start: number) =>
      ({ _tag: "Started", run: run(n, { node_id: nodeId(1), start_time: at(start) }) }) as const
    yield* journal.commit([claimedAtBirth(1, 1), mine(2, 100), mine(3, 100), mine(4, 900)], leaseOf(1, 5000))
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

  check("the runs of a dead node fail with NodeLost", function* () {
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
    const expected = ended(bornRun(1, delivery(1), { node_id: nodeId(2) }), {
      status: "failed",
      stop_time: at(1000),
      result,
      cpu_ms: null,
      wall_ms: null,
      heap_bytes: null
    })
    assert.deepStrictEqual(yield* (yield* RunStore).get(envId(1), runId(1)), expected)
  }),

  check("the deliveries of a dead node wait again, due now, for the same attempt", function* () {
    const journal = yield* setUp
    const third = { attempt: 3, first_run_id: runId(80) }
    const published = event(4)
    const held = delivery(4, published, third)
    const born = bornRun(4, held, { node_id: nodeId(2), attempt: 3 })
    yield* journal.commit([{ _tag: "Appended", event: published, deliveries: [{ delivery: held, run: born }] }], null)
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

  check("a node that was taken for dead can write nothing", function* () {
    const journal = yield* setUp
    yield* journal.reap(nodeId(1), at(1000), 100)
    const before = yield* (yield* RunStore).get(envId(1), runId(1))
    const late = [
      settled(1, ended(run(1))),
      settled(2, ended(run(2)), { attempt: 2, due_at: at(9), first_run_id: runId(2) }),
      { _tag: "Ended", run: ended(run(3)), logs: [] } as const
    ]
    assert.deepStrictEqual(yield* journal.commit(late, leaseOf(2, 9000)), [false, false, false])
    const { claims } = yield* claimAll(at(1000))
    assert.strictEqual(claims.length, 2)
    assert.deepStrictEqual(yield* journal.commit(late, leaseOf(2, 9000)), [false, false, false])
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

  check("reap ends at most limit runs, and says when there are none left", function* () {
    const journal = yield* setUp
    const first = yield* journal.reap(nodeId(1), at(1000), 2)
    const second = yield* journal.reap(nodeId(1), at(1000), 2)
    assert.deepStrictEqual([first.length, second.length], [2, 1])
    assert.strictEqual(new Set([...first, ...second].map((ended) => ended.run_id)).size, 3)
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 2), [])
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).failed, 3)
  }),

  check("a node does not reap its own runs, though its lease be over", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedAtBirth(1), { _tag: "Started", run: run(2) }], leaseOf(1, 500))
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100), [])
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).running, 2)
  }),

  check("what has ended or waits is left alone", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([claimedAtBirth(1, 2), waiting(2), settled(1, ended(run(1)))], leaseOf(2, 500))
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100), [])
    assert.strictEqual((yield* (yield* RunStore).get(envId(1), runId(1))).status, "succeeded")
    assert.strictEqual((yield* claimAll(at(1000))).claims.length, 1)
  }),

  check("claimed runs are reaped like those claimed at birth", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([waiting(1)], null)
    yield* claimAll(at(10), { lease: leaseOf(2, 500), runIds: runIds(700, 1) })
    const lost = yield* journal.reap(nodeId(1), at(1000), 100)
    assert.deepStrictEqual(
      lost.map((ended) => ended.run_id),
      [runId(700)]
    )
    assert.strictEqual((yield* claimAll(at(1000))).claims.length, 1)
  })
]

/** For stores that several nodes may use: a node lives while its lease holds. */
export const leaseChecks: ReadonlyArray<Check<JournalStores>> = [
  check("a node lives to the end of its lease", function* () {
    const journal = yield* setUp
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(499), 100), [])
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(500), 100), [])
    assert.strictEqual((yield* journal.reap(nodeId(1), at(501), 100)).length, 3)
  }),

  check("commits and claims renew the lease of their node", function* () {
    const journal = yield* setUp
    yield* journal.commit([], leaseOf(2, 2000))
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100), [])
    yield* claimAll(at(1000), { lease: leaseOf(2, 4000) })
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(3000), 100), [])
    yield* journal.commit([], leaseOf(1, 9000))
    assert.strictEqual((yield* journal.reap(nodeId(1), at(5000), 100)).length, 3)
  }),

  check("the runs of living nodes are left alone", function* () {
    const journal = yield* setUp
    yield* journal.commit([claimedAtBirth(8, 3)], leaseOf(3, 5000))
    assert.strictEqual((yield* journal.reap(nodeId(1), at(1000), 100)).length, 3)
    assert.strictEqual((yield* (yield* RunStore).get(envId(1), runId(8))).status, "running")
  })
]

/** For stores that one node uses alone: every other node is dead, whatever its lease says. */
export const aloneChecks: ReadonlyArray<Check<JournalStores>> = [
  check("a node that holds the store alone takes over at once", function* () {
    const journal = yield* setUp
    assert.strictEqual((yield* journal.reap(nodeId(1), at(0), 100)).length, 3)
  })
]
