/** Contract of cancellations with cleanup: requests, and what happens at the same time. */
import { assert } from "@effect/vitest"
import { JournalStore, type Run, RunControlStore, WorkflowStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import {
  at,
  claimedOnInsert,
  delivery,
  deliveryId,
  envId,
  event,
  runHolding,
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

const requestCleanup = (n: number, until = 400, env = 1) =>
  RunControlStore.use((control) => control.requestCleanup({ env_id: envId(env), run_id: runId(n) }, at(until), at(200)))

const cancelled = (run: Run): Run => ({ ...run, status: "cancelled", stop_time: at(300) })

/** The end of a run as cancelled. */
const settledCancelled = (run: Run, held = deliveryId(1)) => {
  const entry = settledWith(run, held)
  return entry._tag === "Settled" ? { ...entry, run: cancelled(entry.run) } : entry
}

const requesting: ReadonlyArray<Check<WorkflowStores>> = [
  check("a suspended run whose cleanup is requested continues at once", function* () {
    yield* commit(started(1), advanced(1, { waits: [sleep(0, 500)], suspension: suspension(500) }))
    assert.deepStrictEqual(yield* requestCleanup(1), { ...active(1).run, waiting: timer })
    assert.deepStrictEqual(yield* storedRun(1), { ...active(1).run, waiting: timer })
    assert.strictEqual((yield* load(1)).cleanup_until, at(400))
    const { claims } = yield* claimAll(at(200), { runIds: runIds(800, 5) })
    assert.deepStrictEqual(
      claims.map(({ run, delivery }) => [run.run_id, run.status, delivery.due_at]),
      [[runId(1), "running", at(200)]]
    )
  }),

  check(
    "an active run whose cleanup is requested continues at once after a suspension that does not know it",
    function* () {
      yield* commit(started(1), started(2))
      for (const n of [1, 2]) assert.isNotNull(yield* requestCleanup(n))
      yield* commit(advanced(1, { suspension: suspension(9000) }))
      yield* commit(advanced(2, { suspension: { ...suspension(350), cleanup_until: at(400) } }))
      const { claims, next_due_at } = yield* claimAll(at(200), { runIds: runIds(800, 5) })
      assert.deepStrictEqual(
        claims.map(({ run }) => run.run_id),
        [runId(1)]
      )
      assert.strictEqual(next_due_at, at(350))
    }
  ),

  check("a second request keeps the end of the first", function* () {
    yield* commit(started(1))
    yield* requestCleanup(1, 400)
    yield* requestCleanup(1, 900)
    assert.strictEqual((yield* load(1)).cleanup_until, at(400))
  }),

  check("lists the requested cleanups of runs", function* () {
    yield* commit(started(1), started(2))
    yield* requestCleanup(2)
    const refs = [1, 2, 3].map((n) => ({ env_id: envId(1), run_id: runId(n) }))
    const cleanups = WorkflowStore.use((store) => store.cleanups([...refs, { env_id: envId(2), run_id: runId(2) }]))
    assert.deepStrictEqual(yield* cleanups, [{ run_id: runId(2), until: at(400) }])
    assert.deepStrictEqual(yield* WorkflowStore.use((store) => store.cleanups([])), [])
  }),

  check("only running durable runs of the environment clean up", function* () {
    yield* commit(started(1), claimedOnInsert(2))
    assert.isNull(yield* requestCleanup(1, 400, 2))
    assert.isNull(yield* requestCleanup(2))
    assert.isNull(yield* requestCleanup(3))
    yield* commit(settledWith(active(1).run, deliveryId(1)))
    assert.isNull(yield* requestCleanup(1))
    assert.strictEqual((yield* storedRun(1)).status, "succeeded")
  })
]

const ending: ReadonlyArray<Check<WorkflowStores>> = [
  check("a run whose cleanup is requested ends only as cancelled", function* () {
    yield* commit(started(1), started(2), claimedOnInsert(3))
    yield* requestCleanup(1)
    const { run } = active(1)
    assert.deepStrictEqual(yield* commit(settledWith(run, deliveryId(1))), [false])
    assert.strictEqual((yield* storedRun(1)).status, "running")
    const other = runHolding(3, delivery(3, event(3)))
    const batch = [settledWith(run, deliveryId(1)), settledWith(active(2).run, deliveryId(2))]
    assert.deepStrictEqual(yield* commit(...batch, settledWith(other, deliveryId(3))), [false, true, true])
    assert.deepStrictEqual(yield* commit(advanced(1, { steps: [step(0)], waits: [awaitPaid(1)] })), [true])
    assert.deepStrictEqual(yield* commit(settledCancelled(run)), [true])
    assert.strictEqual((yield* storedRun(1)).status, "cancelled")
    assert.deepStrictEqual(yield* history(1), { steps: [step(0)], waits: [] })
  }),

  check("a cancellation without cleanup ends a run that cleans up", function* () {
    yield* commit(started(1), started(2))
    for (const n of [1, 2]) yield* requestCleanup(n)
    yield* commit(advanced(2, { suspension: suspension(300) }))
    for (const n of [1, 2]) {
      assert.strictEqual((yield* cancelRun(n)).length, 1)
      assert.strictEqual((yield* storedRun(n)).status, "cancelled")
      assert.deepStrictEqual(yield* commit(settledCancelled(active(n).run, deliveryId(n))), [false])
    }
    assert.deepStrictEqual((yield* claimAll(at(9000))).claims, [])
  }),

  check("a run of a dead node keeps its cleanup", function* () {
    const journal = yield* JournalStore
    yield* commit(started(1))
    yield* requestCleanup(1)
    yield* journal.reap(active(1).run.node_id, at(300), 10, { before: at(900), known: [] })
    const { claims } = yield* claimAll(at(300), { runIds: runIds(800, 5) })
    assert.strictEqual(claims[0]?.run.run_id, runId(1))
    assert.strictEqual((yield* load(1)).cleanup_until, at(400))
  }),

  check("keeps steps and cancellation, whichever is first", function* () {
    const runs = Array.from({ length: 12 }, (_, index) => index + 1)
    yield* Effect.forEach(runs, (n) => commit(started(n), advanced(n, { waits: [awaitPaid(0)] })))
    const work: ReadonlyArray<Effect.Effect<unknown, unknown, WorkflowStores>> = runs.flatMap((n) => [
      requestCleanup(n),
      Effect.andThen(
        commit(advanced(n, { steps: [step(0, { seq: 7 })] })),
        commit(advanced(n, { steps: [step(1, { seq: 8 })], suspension: suspension(9000) }))
      ),
      arrive(paid(100 + n), 200)
    ])
    yield* Effect.all(work, { concurrency: "unbounded" })
    const { claims } = yield* claimAll(at(200), { runIds: runIds(1000, 30) })
    assert.deepStrictEqual(claims.map(({ run }) => run.run_id).sort(), runs.map(runId))
    for (const n of runs) {
      const { history: found, cleanup_until } = yield* load(n)
      assert.strictEqual(cleanup_until, at(400))
      assert.deepStrictEqual(found.steps, [step(0, { seq: 7 }), step(1, { seq: 8 })])
      assert.isNotNull(found.waits[0]?.outcome ?? null)
    }
  }),

  check("either ends a run or cancels it, if both happen at the same time", function* () {
    const runs = Array.from({ length: 20 }, (_, index) => index + 1)
    yield* Effect.forEach(runs, (n) => commit(started(n)))
    const outcomes = yield* Effect.forEach(
      runs,
      (n) => Effect.all([requestCleanup(n), commit(settledWith(active(n).run, deliveryId(n)))], { concurrency: 2 }),
      { concurrency: "unbounded" }
    )
    for (const [index, [requested, [isEnded]]] of outcomes.entries()) {
      assert.strictEqual(requested === null, isEnded)
      assert.strictEqual((yield* storedRun(index + 1)).status, isEnded ? "succeeded" : "running")
    }
  }),

  check("claims and requests at the same time leave each run with its cleanup", function* () {
    const runs = Array.from({ length: 12 }, (_, index) => index + 1)
    yield* Effect.forEach(runs, (n) => commit(started(n), advanced(n, { suspension: suspension(10) })))
    yield* commit(waiting(90, { created_at: at(5) }))
    const work: ReadonlyArray<Effect.Effect<unknown, unknown, WorkflowStores>> = runs.flatMap((n) => [
      requestCleanup(n),
      claimAll(at(100), { runIds: runIds(1000 * n, 3) })
    ])
    yield* Effect.all(work, { concurrency: "unbounded" })
    yield* claimAll(at(9000), { runIds: runIds(90_000, 100) })
    for (const n of runs) {
      assert.deepInclude(yield* storedRun(n), { status: "running", waiting: null, activations: 2 })
      assert.strictEqual((yield* load(n)).cleanup_until, at(400))
    }
  })
]

export const cleanupChecks: ReadonlyArray<Check<WorkflowStores>> = [...requesting, ...ending]
