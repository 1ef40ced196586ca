/** Contract of what callers see of durable runs: counts of steps, open waits, and the filter `waiting` of lists. */
import { assert } from "@effect/vitest"
import {
  formatWaiting,
  JournalStore,
  JsonText,
  pageBytesMax,
  RunStore,
  type Suspension,
  UsageStore,
  type WaitingFor,
  type WaitRecord,
  WorkflowStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import { at, claimedOnInsert, deliveryId, envId, everything, nodeId, runId, runIds } from "./Samples.ts"
import {
  active,
  advanced,
  arrive,
  awaitPaid,
  cancelRun,
  commit,
  paid,
  settledWith,
  sleep,
  started,
  step,
  storedRun,
  suspension,
  type WorkflowStores
} from "./WorkflowSamples.ts"

const stepsOf = (n: number) => Effect.map(storedRun(n), ({ steps }) => steps)

const suspendedFor = (reason: WaitingFor, due = 500): Suspension => ({
  ...suspension(due),
  waiting: formatWaiting({ for: reason, name: "a", since: at(0), until: at(due) })
})

const waitingFor = (waiting: WaitingFor | "any", env = 1) =>
  Effect.map(
    RunStore.use((runs) => runs.list(envId(env), everything, { waiting })),
    ({ items, total }) => [total, ...items.map(({ run_id }) => run_id)]
  )

const openWaits = (n: number, limit = 100, env = 1) =>
  WorkflowStore.use((store) => store.openWaits({ env_id: envId(env), run_id: runId(n) }, limit))

const suspendedRuns = (limit: number, env = 1) => UsageStore.use((usage) => usage.suspended(envId(env), limit))

const counting: ReadonlyArray<Check<WorkflowStores>> = [
  check("a run has the number of its results, from its start to after its end", function* () {
    yield* commit(started(1), claimedOnInsert(2))
    assert.deepStrictEqual([yield* stepsOf(1), yield* stepsOf(2)], [0, null])
    yield* commit(advanced(1, { steps: [step(0), step(1)] }))
    assert.strictEqual(yield* stepsOf(1), 2)
    yield* commit(advanced(1, { waits: [sleep(9, 10)] }))
    yield* commit(advanced(1, { steps: [step(2)] }), advanced(1, { steps: [step(3), step(4)] }))
    assert.strictEqual(yield* stepsOf(1), 5)
    yield* commit(advanced(1, { steps: [step(5)] }), advanced(1, { suspension: suspension(10) }))
    assert.strictEqual(yield* stepsOf(1), 6)
    const [claim] = (yield* claimAll(at(100), { runIds: runIds(800, 1) })).claims
    assert.isDefined(claim)
    assert.strictEqual(claim.run.steps, 6)
    yield* commit(settledWith(claim.run, claim.delivery.delivery_id))
    assert.strictEqual(yield* stepsOf(1), 6)
  }),

  check("a repeated write counts a result once", function* () {
    yield* commit(started(1))
    const entry = advanced(1, { steps: [step(0), step(1)] })
    yield* commit(entry)
    yield* commit(entry)
    assert.strictEqual(yield* stepsOf(1), 2)
    yield* commit(advanced(1, { steps: [step(2)] }))
    yield* commit(entry, advanced(1, { steps: [step(3)] }))
    assert.strictEqual(yield* stepsOf(1), 4)
    const last = advanced(1, { steps: [step(3)], suspension: suspension(10) })
    yield* commit(last)
    assert.strictEqual(yield* stepsOf(1), 4)
  }),

  check("counts no results of a node that no longer holds the run", function* () {
    yield* commit(started(1), advanced(1, { steps: [step(0)], suspension: suspension(10) }))
    yield* claimAll(at(100), { runIds: runIds(800, 1) })
    assert.deepStrictEqual(yield* commit(advanced(1, { steps: [step(1)] })), [false])
    assert.strictEqual(yield* stepsOf(1), 1)
    assert.strictEqual((yield* cancelRun(1))[0]?.run.steps, 1)
    assert.strictEqual(yield* stepsOf(1), 1)
  })
]

const listing: ReadonlyArray<Check<WorkflowStores>> = [
  check("lists suspended runs by what they wait for, newest first", function* () {
    const reasons: ReadonlyArray<WaitingFor> = ["timer", "event", "retry", "token", "run", "node", "timer"]
    yield* commit(...reasons.map((_, index) => started(index + 1)), started(8), claimedOnInsert(9))
    yield* commit(...reasons.map((reason, index) => advanced(index + 1, { suspension: suspendedFor(reason) })))
    assert.deepStrictEqual(yield* waitingFor("timer"), [2, runId(7), runId(1)])
    for (const [index, reason] of reasons.slice(1, 6).entries())
      assert.deepStrictEqual(yield* waitingFor(reason), [1, runId(index + 2)])
    assert.deepStrictEqual(yield* waitingFor("any"), [7, ...[7, 6, 5, 4, 3, 2, 1].map(runId)])
    assert.deepStrictEqual(yield* waitingFor("any", 2), [0])
    const page = RunStore.use((runs) => runs.list(envId(1), { limit: 1, offset: 1 }, { waiting: "timer" }))
    assert.deepStrictEqual([(yield* page).total, ...(yield* page).items.map(({ run_id }) => run_id)], [2, runId(1)])
    const ended = RunStore.use((runs) => runs.list(envId(1), everything, { waiting: "any", status: "succeeded" }))
    assert.deepStrictEqual(yield* ended, { items: [], total: 0 })
  }),

  check("a run waits for nothing after it continues, ends or is cancelled", function* () {
    yield* commit(started(1), started(2), started(3, nodeId(1), { env_id: envId(2) }))
    yield* commit(
      advanced(1, { suspension: suspendedFor("timer", 10) }),
      advanced(2, { suspension: suspendedFor("event", 9000) }),
      advanced(3, { suspension: suspendedFor("timer", 9000) }, { env_id: envId(2) })
    )
    assert.strictEqual(yield* suspendedRuns(10), 2)
    yield* claimAll(at(100), { runIds: runIds(800, 5) })
    assert.deepStrictEqual(yield* waitingFor("any"), [1, runId(2)])
    yield* cancelRun(2)
    assert.deepStrictEqual(yield* waitingFor("any"), [0])
    assert.strictEqual(yield* suspendedRuns(10), 0)
    assert.strictEqual(yield* suspendedRuns(10, 2), 1)
  }),

  check("a run of a dead node waits for a node", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([started(1, nodeId(2))], { node_id: nodeId(2), until: at(500) })
    assert.deepStrictEqual(yield* waitingFor("node"), [0])
    yield* journal.reap(nodeId(1), at(1000), 100)
    assert.deepStrictEqual(yield* waitingFor("node"), [1, runId(1)])
  }),

  check("counts suspended runs up to the limit", function* () {
    const runs = [1, 2, 3, 4]
    yield* commit(...runs.map((n) => started(n)), started(5))
    yield* commit(...runs.map((n) => advanced(n, { suspension: suspendedFor("timer") })))
    assert.deepStrictEqual([yield* suspendedRuns(10), yield* suspendedRuns(3)], [4, 3])
  }),

  check("lists open waits without events that have arrived, and without stalls", function* () {
    yield* commit(started(1))
    const stall: WaitRecord = { ...sleep(-2, 10), kind: "stall" }
    const waits = [stall, sleep(3, 10), awaitPaid(1), awaitPaid(2, { no: 1 }, { until: at(99) })]
    yield* commit(advanced(1, { waits }))
    yield* arrive(paid(50))
    const fields = { kind: "event", event_type: "paid", child_event_id: null, attempts: 0, since: at(0) } as const
    const { match: _match, token_seq: _tokenSeq, outcome: _outcome, ...timer } = sleep(3, 10)
    const open = [{ seq: 2, name: "wait 2", until: at(99), ...fields }, timer]
    assert.deepStrictEqual(yield* openWaits(1), open)
    assert.deepStrictEqual(yield* openWaits(1, 1), open.slice(0, 1))
    assert.deepStrictEqual(yield* openWaits(1, 100, 2), [])
    assert.deepStrictEqual(yield* openWaits(2), [])
    yield* commit(settledWith(active(1).run, deliveryId(1)))
    assert.deepStrictEqual(yield* openWaits(1), [])
  }),

  check("ends a page of steps before a result that would exceed its size", function* () {
    yield* commit(started(1))
    const result = JsonText.make(`"${"x".repeat(pageBytesMax / 4)}"`)
    const all = [0, 1, 2, 3, 4].map((position) => step(position, position === 1 ? {} : { result }))
    for (const each of all) yield* commit(advanced(1, { steps: [each] }))
    const list = (offset: number) =>
      WorkflowStore.use((store) => store.steps({ env_id: envId(1), run_id: runId(1) }, { limit: 100, offset }))
    assert.deepStrictEqual(yield* list(0), { items: all.slice(0, 4), total: 5 })
    assert.deepStrictEqual(yield* list(4), { items: all.slice(4), total: 5 })
  })
]

export const readChecks: ReadonlyArray<Check<WorkflowStores>> = [...counting, ...listing]
