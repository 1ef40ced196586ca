/** Contract of suspended runs: their deliveries, claims, and ends. */
import { assert } from "@effect/vitest"
import {
  DeliveryId,
  formatWaiting,
  JournalStore,
  type LogEntry,
  leastIdAt,
  lostNode,
  RunControlStore,
  RunId,
  RunStore,
  WorkflowStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import {
  at,
  claimedOnInsert,
  deliveryId,
  envId,
  event,
  everything,
  logLine,
  nodeId,
  runId,
  runIds,
  waiting
} from "./Samples.ts"
import {
  active,
  advanced,
  arrive,
  awaitPaid,
  cancelRun,
  commit,
  history,
  load,
  paid,
  settledWith,
  sleep,
  started,
  step,
  storedRun,
  suspension,
  timer,
  type WorkflowStores
} from "./WorkflowSamples.ts"

const nothing = { claims: [], parked: 0, unparked: 0, next_due_at: null }

const makeLease = (node: number, until: number) => ({ node_id: nodeId(node), until: at(until) })

/** Run `n`, suspended until `due` after one step. */
const suspend = (n: number, due: number, logs: ReadonlyArray<LogEntry> = []) =>
  commit(started(n), advanced(n, { steps: [step(0)], waits: [sleep(1, due)], suspension: suspension(due, logs) }))

const group = { key: "project/main/onOrder", limit: 1 }

/** Claims at `now` with runs numbered from `first`. Returns the ids of the claimed runs. */
const claimAt = (now: number, first: number, limit = 100) =>
  Effect.map(claimAll(at(now), { runIds: runIds(first, limit) }), (result) => ({
    ...result,
    ids: result.claims.map(({ run }) => run.run_id).sort()
  }))

const claiming: ReadonlyArray<Check<WorkflowStores>> = [
  check("a suspended run stays running, with what it waits for and its log", function* () {
    yield* suspend(1, 500, [logLine(0), logLine(1)])
    assert.deepStrictEqual(yield* storedRun(1), { ...active(1).run, waiting: timer, steps: 1 })
    assert.deepStrictEqual(yield* load(1), {
      history: { steps: [step(0)], waits: [sleep(1, 500)] },
      logs: [logLine(0), logLine(1)],
      cleanup_until: null
    })
    assert.strictEqual((yield* RunStore.use((runs) => runs.stats(envId(1)))).running, 1)
    assert.deepStrictEqual(yield* claimAll(at(499)), { ...nothing, next_due_at: at(500) })
  }),

  check("a claim continues a suspended run with a new delivery", function* () {
    yield* suspend(1, 500)
    const lease = makeLease(7, 9000)
    const { claims, next_due_at } = yield* claimAll(at(500), { lease, runIds: runIds(800, 5) })
    const { run, event: published, delivery } = active(1)
    const held = { ...delivery, delivery_id: DeliveryId.make(runId(800)), due_at: at(500), continues: runId(1) }
    const continued = { ...run, node_id: nodeId(7), activations: 2, steps: 1 }
    assert.deepStrictEqual([claims, next_due_at], [[{ delivery: held, event: published, run: continued }], null])
    assert.deepStrictEqual(yield* storedRun(1), continued)
    assert.deepStrictEqual(yield* claimAll(at(9000)), nothing)
    assert.strictEqual((yield* RunStore.use((runs) => runs.list(envId(1), everything, {}))).total, 1)
  }),

  check("an earlier holder of a run can write nothing", function* () {
    yield* suspend(1, 500)
    const { claims } = yield* claimAll(at(500), { runIds: runIds(800, 5) })
    const { run } = active(1)
    const late = [
      advanced(1, { steps: [step(1)], waits: [awaitPaid(5)] }),
      advanced(1, { suspension: suspension(10) }),
      settledWith(run, deliveryId(1))
    ]
    for (const entry of late) assert.deepStrictEqual(yield* commit(entry), [false])
    assert.deepStrictEqual(yield* commit(...late), [false, false, false])
    assert.deepStrictEqual(yield* history(1), { steps: [step(0)], waits: [sleep(1, 500)] })
    const [claim] = claims
    assert.isDefined(claim)
    const { delivery, run: continued } = claim
    const { delivery_id: deliveryIdNow } = delivery
    const next = advanced(1, { deliveryId: deliveryIdNow, steps: [step(1)] }, continued)
    assert.deepStrictEqual(yield* commit(next), [true])
    assert.deepStrictEqual(yield* commit(settledWith(continued, deliveryIdNow)), [true])
    assert.strictEqual((yield* storedRun(1)).status, "succeeded")
    assert.deepStrictEqual(yield* history(1), { steps: [step(0), step(1)], waits: [] })
    assert.deepStrictEqual(yield* claimAll(at(9000)), nothing)
  }),

  check("a run may be suspended and continued many times", function* () {
    yield* suspend(1, 100)
    for (let activation = 2; activation <= 6; activation++) {
      const { claims } = yield* claimAll(at(100 * activation), { runIds: runIds(1000 * activation, 1) })
      const [claim] = claims
      assert.isDefined(claim)
      const { run, delivery } = claim
      assert.strictEqual(run.activations, activation)
      const entry = advanced(
        1,
        { deliveryId: delivery.delivery_id, steps: [step(activation)], suspension: suspension(100 * activation + 50) },
        run
      )
      assert.deepStrictEqual(yield* commit(entry), [true])
    }
    assert.strictEqual((yield* history(1)).steps.length, 6)
  }),

  check("keeps the deliveries of suspended runs when pending deliveries are discarded", function* () {
    yield* suspend(1, 500)
    yield* commit(waiting(2, { created_at: at(500) }))
    const discard = RunControlStore.use((control) => control.discard(envId(1), {}, null, 100))
    assert.deepStrictEqual(
      (yield* discard).discarded.map(({ delivery_id }) => delivery_id),
      [deliveryId(2)]
    )
    assert.deepStrictEqual((yield* claimAt(500, 800)).ids, [runId(1)])
  }),

  check("claims suspended runs together with new deliveries", function* () {
    yield* suspend(1, 50)
    yield* suspend(2, 60)
    yield* commit(waiting(3, { created_at: at(55) }), waiting(4, { created_at: at(65) }, { durable: true }))
    const { claims } = yield* claimAll(at(100), { runIds: runIds(800, 10) })
    assert.deepStrictEqual(
      claims.map(({ run, delivery }) => [run.run_id, run.activations, delivery.continues]),
      [
        [runId(1), 2, runId(1)],
        [runId(801), null, null],
        [runId(2), 2, runId(2)],
        [runId(803), 1, null]
      ]
    )
  }),

  check("shares claims fairly between environments with suspended runs and others", function* () {
    for (const n of [1, 2, 3, 4, 5]) yield* suspend(n, n)
    yield* commit(waiting(9, { env_id: envId(2), created_at: at(50) }))
    const { claims, next_due_at } = yield* claimAll(at(100), { runIds: runIds(800, 2) })
    assert.sameMembers(
      claims.map(({ delivery }) => delivery.env_id),
      [envId(1), envId(2)]
    )
    assert.strictEqual(claims.find(({ delivery }) => delivery.env_id === envId(1))?.run.run_id, runId(1))
    assert.isNotNull(next_due_at)
    assert.isAtMost(next_due_at, at(100))
  }),

  check("a suspended run frees its place in its group, and waits for one to continue", function* () {
    yield* commit(started(1, nodeId(1), {}, { group }))
    yield* commit(advanced(1, { suspension: suspension(500) }))
    yield* commit(waiting(2, { created_at: at(10) }, { group }))
    const first = yield* claimAt(20, 800)
    assert.deepStrictEqual(first.ids, [runId(800)])
    const second = yield* claimAt(500, 900)
    assert.deepStrictEqual([second.ids, second.parked], [[], 1])
    const [other] = first.claims
    assert.isDefined(other)
    yield* commit(settledWith(other.run, other.delivery.delivery_id))
    const freed = { env_id: envId(1), key: group.key }
    assert.strictEqual(yield* JournalStore.use((journal) => journal.unpark([freed], at(600))), 1)
    const third = yield* claimAt(600, 1000)
    assert.deepStrictEqual(third.ids, [runId(1)])
    assert.deepStrictEqual(third.claims[0]?.delivery.group, group)
  }),

  check("concurrent claims continue each run once", function* () {
    const runs = Array.from({ length: 30 }, (_, index) => index + 1)
    yield* Effect.forEach(runs, (n) => suspend(n, 10))
    const results = yield* Effect.forEach(
      [1, 2, 3, 4, 5, 6],
      (node) => claimAll(at(100), { lease: makeLease(node, 9000), runIds: runIds(1000 * node, 30) }),
      { concurrency: "unbounded" }
    )
    const rest = yield* claimAll(at(100), { runIds: runIds(9000, 30) })
    const claimed = [...results, rest].flatMap(({ claims }) => claims.map(({ run }) => run.run_id))
    assert.deepStrictEqual(claimed.sort(), runs.map(runId))
  }),

  check("a delivery of an ended run is removed", function* () {
    yield* commit(started(1), started(2))
    yield* commit(settledWith(active(1).run, deliveryId(1)))
    const { delivery } = active(1)
    const stale = { ...delivery, delivery_id: deliveryId(77), continues: runId(1) }
    yield* RunControlStore.use((control) => control.redeliver(stale))
    assert.deepStrictEqual((yield* claimAll(at(1000))).claims, [])
    assert.deepStrictEqual(yield* claimAll(at(1000)), nothing)
    assert.strictEqual((yield* storedRun(1)).status, "succeeded")
  })
]

const reaping: ReadonlyArray<Check<WorkflowStores>> = [
  check("reap suspends the durable runs of a dead node, which continue at once", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([started(1, nodeId(2)), claimedOnInsert(2, 2)], makeLease(2, 500))
    yield* commit(advanced(1, { steps: [step(0)], waits: [awaitPaid(1)] }))
    yield* RunControlStore.use((control) =>
      control.log([{ env_id: envId(1), run_id: runId(1), entries: [logLine(0)] }])
    )
    const lost = yield* journal.reap(nodeId(1), at(1000), 100)
    const suspended = { ...active(1, nodeId(2)).run, waiting: formatWaiting(lostNode(at(1000))), steps: 1 }
    assert.deepStrictEqual(
      lost.find(({ run_id }) => run_id === runId(1)),
      suspended
    )
    assert.deepStrictEqual(lost.map(({ run_id, status }) => [run_id, status]).sort(), [
      [runId(1), "running"],
      [runId(2), "failed"]
    ])
    assert.deepStrictEqual(yield* storedRun(1), suspended)
    const kept = { steps: [step(0)], waits: [awaitPaid(1)] }
    assert.deepStrictEqual(yield* load(1), { history: kept, logs: [logLine(0)], cleanup_until: null })
    assert.deepStrictEqual(yield* commit(advanced(1, { steps: [step(1)] })), [false])
    const { claims } = yield* claimAt(1000, 800)
    const [continued] = claims.filter(({ run }) => run.run_id === runId(1))
    assert.deepStrictEqual([continued?.run.activations, continued?.delivery.due_at], [2, at(1000)])
  }),

  check("reap suspends durable runs of the node itself that it does not know", function* () {
    const journal = yield* JournalStore
    yield* commit(started(1), started(2))
    const own = { before: at(900), known: [runId(2)] }
    const lost = yield* journal.reap(nodeId(1), at(1000), 100, own)
    assert.deepStrictEqual(
      lost.map(({ run_id, status }) => [run_id, status]),
      [[runId(1), "running"]]
    )
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100, own), [])
    assert.isNull((yield* storedRun(2)).waiting)
    assert.deepStrictEqual((yield* claimAt(1000, 800)).ids, [runId(1)])
  }),

  check("reap leaves continued runs of the node itself that it knows, or that continued recently", function* () {
    const journal = yield* JournalStore
    yield* suspend(1, 10)
    yield* suspend(2, 10)
    yield* claimAll(at(20), { lease: makeLease(1, 5000), runIds: runIds(800, 1) })
    yield* claimAll(at(950), { lease: makeLease(1, 5000), runIds: [leastIdAt(RunId, at(950))] })
    const reap = (before: number, known: ReadonlyArray<RunId>) =>
      Effect.map(journal.reap(nodeId(1), at(1000), 100, { before: at(before), known }), (lost) =>
        lost.map(({ run_id }) => run_id).sort()
      )
    assert.deepStrictEqual(yield* reap(900, [runId(800)]), [])
    // Run 1 continues once more, and the node does not know of that.
    assert.deepStrictEqual(yield* reap(900, [runId(999)]), [runId(1)])
    yield* claimAll(at(1000), { lease: makeLease(1, 5000), runIds: runIds(801, 1) })
    assert.deepStrictEqual(yield* reap(960, [runId(800)]), [runId(1), runId(2)])
  }),

  check("suspended runs of dead nodes are not lost", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([started(1, nodeId(2))], makeLease(2, 500))
    yield* commit(advanced(1, { suspension: suspension(9000) }))
    assert.isFalse((yield* journal.findPendingWork(nodeId(1), at(1000))).orphans)
    assert.deepStrictEqual(yield* journal.reap(nodeId(1), at(1000), 100), [])
    const own = { before: at(9000), known: [] }
    assert.deepStrictEqual(yield* journal.reap(nodeId(2), at(1000), 100, own), [])
    assert.strictEqual((yield* storedRun(1)).waiting, timer)
  }),

  check("a continued run of a dead node continues again", function* () {
    const journal = yield* JournalStore
    yield* suspend(1, 10)
    yield* claimAll(at(20), { lease: makeLease(2, 500), runIds: runIds(800, 1) })
    assert.isTrue((yield* journal.findPendingWork(nodeId(1), at(1000))).orphans)
    assert.strictEqual((yield* journal.reap(nodeId(1), at(1000), 100)).length, 1)
    const { claims } = yield* claimAt(1000, 900)
    assert.deepStrictEqual(
      claims.map(({ run, delivery }) => [run.run_id, run.activations, delivery.delivery_id]),
      [[runId(1), 3, DeliveryId.make(runId(900))]]
    )
  })
]

const ending: ReadonlyArray<Check<WorkflowStores>> = [
  check("a cancelled run that was suspended has no delivery and no waits", function* () {
    yield* commit(started(1, nodeId(1), {}, { group }), started(2))
    const logs = [logLine(0)]
    yield* commit(advanced(1, { steps: [step(0)], waits: [awaitPaid(1)], suspension: suspension(500, logs) }))
    yield* commit(advanced(2, { waits: [awaitPaid(1)], suspension: suspension(600) }))
    const cancelled = yield* cancelRun(1)
    assert.deepStrictEqual(
      cancelled.map((each) => [each.run.run_id, each.run.status, each.run.waiting, each.group]),
      [[runId(1), "cancelled", null, group.key]]
    )
    assert.deepStrictEqual(yield* storedRun(1), cancelled[0]?.run)
    assert.deepStrictEqual(yield* load(1), { history: { steps: [step(0)], waits: [] }, logs, cleanup_until: null })
    assert.deepStrictEqual(yield* arrive(paid(90)), [runId(2)])
    assert.deepStrictEqual((yield* claimAt(9000, 800)).ids, [runId(2)])
    assert.deepStrictEqual(yield* cancelRun(1), [])
  }),

  check("a cancelled run that was active has no waits, and its holder can write nothing", function* () {
    yield* commit(started(1), advanced(1, { waits: [awaitPaid(1)] }))
    assert.strictEqual((yield* cancelRun(1)).length, 1)
    assert.deepStrictEqual(yield* commit(advanced(1, { steps: [step(0)], suspension: suspension(10) })), [false])
    assert.deepStrictEqual(yield* history(1), { steps: [], waits: [] })
    assert.deepStrictEqual(yield* claimAll(at(9000)), nothing)
  }),

  check("a cancellation is final, whatever happens at the same time", function* () {
    const runs = Array.from({ length: 12 }, (_, index) => index + 1)
    yield* Effect.forEach(runs, (n) =>
      commit(started(n), advanced(n, { waits: [awaitPaid(0)], suspension: suspension(10) }))
    )
    const work: ReadonlyArray<Effect.Effect<unknown, unknown, WorkflowStores>> = runs.flatMap((n) => [
      cancelRun(n),
      claimAll(at(100), { runIds: runIds(1000 * n, 3) }),
      arrive(paid(100 + n), 50)
    ])
    yield* Effect.all(work, { concurrency: "unbounded" })
    for (const n of runs) {
      assert.strictEqual((yield* storedRun(n)).status, "cancelled")
      assert.deepStrictEqual((yield* history(n)).waits, [])
    }
    assert.deepStrictEqual(yield* claimAll(at(9000), { runIds: runIds(90_000, 100) }), nothing)
  }),

  check("purge removes the steps of ended runs, and keeps suspended runs", function* () {
    const journal = yield* JournalStore
    yield* suspend(1, 500)
    yield* commit(started(2), started(3), started(4))
    const many = Array.from({ length: 450 }, (_, position) => step(position))
    yield* commit(
      advanced(2, { steps: many }),
      advanced(3, { steps: many.slice(0, 70) }),
      advanced(4, { steps: [step(0)] })
    )
    for (const n of [2, 3]) yield* commit(settledWith(active(n).run, deliveryId(n)))
    let removed = 0
    for (let count = -1; count !== 0; removed += count) count = yield* journal.purge(envId(1), runId(99), 10)
    assert.strictEqual(removed, 2)
    const count = (n: number) =>
      Effect.map(
        WorkflowStore.use((store) => store.steps({ env_id: envId(1), run_id: runId(n) }, everything)),
        ({ total }) => total
      )
    assert.deepStrictEqual(yield* Effect.forEach([1, 2, 3, 4], count), [1, 0, 0, 1])
    assert.strictEqual((yield* storedRun(1)).waiting, timer)
    assert.strictEqual((yield* Effect.flip(storedRun(2)))._tag, "NotFound")
  }),

  check("keeps the event of a suspended run", function* () {
    yield* suspend(1, 500)
    yield* JournalStore.use((journal) => journal.purge(envId(1), runId(99), 10))
    assert.deepStrictEqual((yield* claimAt(500, 800)).claims[0]?.event, event(1))
  })
]

export const suspensionChecks: ReadonlyArray<Check<WorkflowStores>> = [...claiming, ...reaping, ...ending]
