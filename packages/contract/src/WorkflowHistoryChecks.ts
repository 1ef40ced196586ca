/** Contract of the histories of durable runs: `Advanced` entries of the journal, and reads of `WorkflowStore`. */
import { assert } from "@effect/vitest"
import { emptyHistory, WorkflowStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { at, bigJson, deliveryId, ended, envId, hostileText, nodeId, run, runId, settled } from "./Samples.ts"
import {
  active,
  advanced,
  awaitPaid,
  commit,
  history,
  load,
  settledWith,
  sleep,
  started,
  step,
  storedRun,
  suspension,
  type WorkflowStores
} from "./WorkflowSamples.ts"

const steps = (n: number, limit: number, offset: number, env = 1) =>
  WorkflowStore.use((store) => store.steps({ env_id: envId(env), run_id: runId(n) }, { limit, offset }))

export const historyChecks: ReadonlyArray<Check<WorkflowStores>> = [
  check("stores each field of steps and waits", function* () {
    yield* commit(started(1))
    const failed = step(1, {
      ...{ seq: 7, kind: "event", name: hostileText, ok: false, attempts: 3 },
      ...{ result: bigJson, started_at: at(77), ended_at: at(99) }
    })
    const retry = { ...sleep(8, 400), kind: "step", name: hostileText, attempts: 2, since: at(11) } as const
    const event = awaitPaid(9, { [hostileText.replaceAll(".", "")]: hostileText }, { until: at(900), since: at(12) })
    const entry = advanced(1, { steps: [step(0, { result: null }), failed], waits: [retry, event] })
    assert.deepStrictEqual(yield* commit(entry), [true])
    assert.deepStrictEqual(yield* load(1), {
      history: { steps: [step(0, { result: null }), failed], waits: [retry, event] },
      logs: [],
      cleanup_until: null
    })
    assert.deepStrictEqual(yield* storedRun(1), { ...active(1).run, steps: 2 })
  }),

  check("has an empty history of other runs, and of the same run in another environment", function* () {
    yield* commit(started(1), started(2), advanced(1, { steps: [step(0)], waits: [sleep(1, 10)] }))
    assert.deepStrictEqual(yield* history(2), emptyHistory)
    assert.deepStrictEqual(yield* history(3), emptyHistory)
    assert.deepStrictEqual(yield* load(1, 2), { history: emptyHistory, logs: [], cleanup_until: null })
    assert.deepStrictEqual(yield* steps(1, 10, 0, 2), { items: [], total: 0 })
  }),

  check("lists steps in pages, ascending by position", function* () {
    yield* commit(started(1))
    for (const position of [0, 1, 2, 3, 4]) yield* commit(advanced(1, { steps: [step(position)] }))
    assert.deepStrictEqual(yield* steps(1, 2, 0), { items: [step(0), step(1)], total: 5 })
    assert.deepStrictEqual(yield* steps(1, 2, 4), { items: [step(4)], total: 5 })
    assert.deepStrictEqual(yield* steps(1, 2, 6), { items: [], total: 5 })
  }),

  check("a step ends the wait with its seq, stored before or in the same entry", function* () {
    yield* commit(started(1))
    yield* commit(advanced(1, { waits: [sleep(0, 10), sleep(1, 20), awaitPaid(2)] }))
    yield* commit(
      advanced(1, { steps: [step(0, { seq: 1 }), step(1, { seq: 3 })], waits: [sleep(3, 30), sleep(4, 40)] })
    )
    const { waits } = yield* history(1)
    assert.deepStrictEqual(waits, [sleep(0, 10), awaitPaid(2), sleep(4, 40)])
  }),

  check("a step of one attempt ends the pause in which it was cancelled", function* () {
    const pause = { ...sleep(0, 10), kind: "step", attempts: 1 } as const
    yield* commit(started(1), advanced(1, { waits: [pause] }))
    yield* commit(advanced(1, { steps: [step(0, { attempts: 1, ok: false })] }))
    assert.deepStrictEqual((yield* history(1)).waits, [])
  }),

  check("replaces a wait by a later one with the same seq", function* () {
    yield* commit(started(1), advanced(1, { waits: [sleep(0, 10)] }))
    const later = { ...sleep(0, 500), kind: "step", attempts: 2 } as const
    assert.deepStrictEqual(yield* commit(advanced(1, { waits: [later] })), [true])
    assert.deepStrictEqual((yield* history(1)).waits, [later])
  }),

  check("applies several entries of a run in one commit in their order", function* () {
    yield* commit(started(1), started(2))
    const entries = [
      advanced(1, { waits: [sleep(0, 10), sleep(1, 10)] }),
      advanced(2, { steps: [step(0)] }),
      advanced(1, { steps: [step(0)] }),
      advanced(1, { waits: [sleep(0, 99)], steps: [step(1, { seq: 5 })] }),
      advanced(2, { steps: [step(1)], suspension: suspension(500) }),
      advanced(1, { suspension: suspension(300) })
    ]
    assert.deepStrictEqual(yield* commit(...entries), [true, true, true, true, true, true])
    assert.deepStrictEqual(yield* history(1), {
      steps: [step(0), step(1, { seq: 5 })],
      waits: [sleep(0, 99), sleep(1, 10)]
    })
    assert.deepStrictEqual((yield* history(2)).steps, [step(0), step(1)])
    assert.isNotNull((yield* storedRun(1)).waiting)
    assert.isNotNull((yield* storedRun(2)).waiting)
  }),

  check("a suspended run writes nothing more in the same commit", function* () {
    yield* commit(started(1), started(2))
    const entries = [
      advanced(1, { steps: [step(0)], suspension: suspension(500) }),
      advanced(1, { steps: [step(1)] }),
      advanced(2, { steps: [step(0)] }),
      advanced(1, { suspension: suspension(600) })
    ]
    assert.deepStrictEqual(yield* commit(...entries), [true, false, true, false])
    assert.deepStrictEqual((yield* history(1)).steps, [step(0)])
    assert.deepStrictEqual((yield* history(2)).steps, [step(0)])
  }),

  check("a repeated write changes nothing", function* () {
    yield* commit(started(1))
    const entry = advanced(1, { steps: [step(0)], waits: [awaitPaid(1), sleep(2, 10)] })
    assert.deepStrictEqual(yield* commit(entry), [true])
    assert.deepStrictEqual(yield* commit(entry), [true])
    assert.deepStrictEqual(yield* history(1), { steps: [step(0)], waits: [awaitPaid(1), sleep(2, 10)] })
  }),

  check("counts progress only for the run that holds the delivery", function* () {
    yield* commit(started(1), started(2), started(3), { _tag: "Started", run: run(4) })
    yield* commit(settledWith(active(3).run, deliveryId(3)))
    const progress = { steps: [step(0)], waits: [awaitPaid(1)], suspension: suspension(10) }
    const entries = [
      advanced(1, { ...progress, deliveryId: deliveryId(2) }),
      advanced(1, { ...progress, deliveryId: deliveryId(404) }),
      advanced(3, progress),
      advanced(4, progress),
      advanced(5, progress),
      advanced(2, progress, { env_id: envId(2) })
    ]
    for (const entry of entries) assert.deepStrictEqual(yield* commit(entry), [false])
    assert.deepStrictEqual(yield* commit(...entries, advanced(1, { steps: [step(0)] })), [
      ...entries.map(() => false),
      true
    ])
    assert.deepStrictEqual((yield* history(1)).waits, [])
    for (const n of [2, 3, 4, 5]) assert.deepStrictEqual(yield* history(n), emptyHistory)
    assert.isNull((yield* storedRun(1)).waiting)
    assert.strictEqual((yield* storedRun(3)).status, "succeeded")
  }),

  check("shares a commit with other entries", function* () {
    const others = [11, 12, 13].map((n) => started(n))
    yield* commit(started(1), started(2), started(3))
    const entries = [
      ...others,
      advanced(1, { steps: [step(0)] }),
      settledWith(active(2).run, deliveryId(2)),
      advanced(3, { waits: [sleep(0, 1)], suspension: suspension(50) }),
      { _tag: "Ended", run: ended(run(9)), logs: [] } as const
    ]
    assert.deepStrictEqual(
      yield* commit(...entries),
      entries.map(() => true)
    )
    assert.deepStrictEqual((yield* history(1)).steps, [step(0)])
    assert.strictEqual((yield* storedRun(2)).status, "succeeded")
    assert.isNotNull((yield* storedRun(3)).waiting)
    assert.strictEqual((yield* storedRun(12)).status, "running")
  }),

  check("a run may start, advance and end in one commit", function* () {
    const { run: begun } = active(1)
    const entries = [
      started(1),
      advanced(1, { steps: [step(0)] }),
      settledWith(begun, deliveryId(1)),
      advanced(1, { steps: [step(1)] }),
      settled(1, ended(begun))
    ]
    assert.deepStrictEqual(yield* commit(...entries), [true, true, true, false, false])
    assert.deepStrictEqual((yield* history(1)).steps, [step(0)])
    assert.strictEqual((yield* storedRun(1)).status, "succeeded")
  }),

  check("keeps the steps of an ended run, and none of its waits", function* () {
    yield* commit(started(1), started(2))
    yield* commit(
      advanced(1, { steps: [step(0)], waits: [awaitPaid(1), sleep(2, 10)] }),
      advanced(2, { waits: [awaitPaid(1)] })
    )
    yield* commit(settledWith(active(1).run, deliveryId(1)))
    assert.deepStrictEqual(yield* history(1), { steps: [step(0)], waits: [] })
    assert.deepStrictEqual((yield* history(2)).waits, [awaitPaid(1)])
    const final = yield* storedRun(1)
    assert.deepStrictEqual([final.activations, final.waiting], [1, null])
  }),

  check("stores a thousand steps of many runs at once", function* () {
    const runs = Array.from({ length: 100 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n, nodeId(1), { env_id: envId(1 + (n % 3)) })))
    const entries = Array.from({ length: 1000 }, (_, index) => {
      const n = runs[index % 100] ?? 0
      return advanced(n, { steps: [step(Math.floor(index / 100))] }, { env_id: envId(1 + (n % 3)) })
    })
    assert.deepStrictEqual(
      yield* commit(...entries),
      entries.map(() => true)
    )
    for (const n of [1, 50, 100]) {
      const { history: stored } = yield* load(n, 1 + (n % 3))
      assert.deepStrictEqual(
        stored.steps,
        Array.from({ length: 10 }, (_, position) => step(position))
      )
    }
  }),

  check("concurrent commits of different runs keep all steps", function* () {
    const runs = Array.from({ length: 20 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    yield* Effect.forEach(
      runs,
      (n) =>
        Effect.forEach([0, 1, 2], (position) =>
          commit(advanced(n, { steps: [step(position)], waits: [awaitPaid(9)] }))
        ),
      { concurrency: "unbounded" }
    )
    for (const n of runs) {
      assert.deepStrictEqual(yield* history(n), { steps: [step(0), step(1), step(2)], waits: [awaitPaid(9)] })
    }
  })
]
