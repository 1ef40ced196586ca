/** Contract of `loadSmall`, which reads the histories of several runs. */
import { assert } from "@effect/vitest"
import { RunControlStore, toJsonText, WorkflowStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { at, envId, hostileText, logLine, nodeId, runId } from "./Samples.ts"
import {
  advanced,
  arrive,
  awaitPaid,
  commit,
  load,
  paid,
  sleep,
  started,
  step,
  suspension,
  type WorkflowStores
} from "./WorkflowSamples.ts"

const loadSmall = (numbers: ReadonlyArray<number>, env = 1) =>
  WorkflowStore.use((store) => store.loadSmall(envId(env), numbers.map(runId)))

const numbersOf = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index + 1)

export const loadChecks: ReadonlyArray<Check<WorkflowStores>> = [
  check("several runs have the same histories, logs and cleanups together as alone", function* () {
    yield* commit(...numbersOf(4).map((n) => started(n)))
    yield* commit(
      advanced(1, { steps: [step(0), step(1, { ok: false, result: null, name: hostileText })] }),
      advanced(2, { steps: [step(0)], waits: [awaitPaid(1, { a: 1 }), sleep(2, 900)] }),
      advanced(3, { waits: [sleep(0, 900)], suspension: suspension(900, [logLine(0), logLine(1)]) })
    )
    yield* arrive(paid(50, { a: 1 }))
    yield* RunControlStore.use((control) =>
      control.requestCleanup({ env_id: envId(1), run_id: runId(3) }, at(400), at(200))
    )
    const loaded = yield* loadSmall([3, 1, 4, 2, 77])
    assert.deepStrictEqual([...loaded.keys()].sort(), [1, 2, 3, 4, 77].map(runId))
    for (const n of [1, 2, 3, 4, 77]) assert.deepStrictEqual(loaded.get(runId(n)), yield* load(n))
    assert.deepStrictEqual(yield* loadSmall([]), new Map())
  }),

  check("runs of other environments are like unknown ones", function* () {
    yield* commit(started(1, nodeId(1), { env_id: envId(2) }))
    yield* commit(advanced(1, { steps: [step(0)] }, { env_id: envId(2) }))
    assert.deepStrictEqual((yield* loadSmall([1])).get(runId(1)), yield* load(1))
    assert.deepStrictEqual((yield* loadSmall([1], 2)).get(runId(1)), yield* load(1, 2))
  }),

  check("a run with large texts is whole or missing, and the others are whole", function* () {
    const large = toJsonText("x".repeat(200_000))
    yield* commit(...numbersOf(4).map((n) => started(n)))
    yield* commit(
      advanced(1, { steps: [step(0, { result: large })] }),
      advanced(2, { waits: [awaitPaid(0)] }),
      advanced(3, { suspension: suspension(900, [{ ...logLine(0), message: "x".repeat(200_000) }]) }),
      advanced(4, { steps: [step(0)] })
    )
    yield* arrive(paid(50, { text: "x".repeat(200_000) }))
    const loaded = yield* loadSmall(numbersOf(4))
    assert.deepStrictEqual(loaded.get(runId(4)), yield* load(4))
    for (const n of [1, 2, 3]) {
      const run = loaded.get(runId(n))
      if (run !== undefined) assert.deepStrictEqual(run, yield* load(n))
    }
  }),

  check("runs with thousands of steps together are whole or missing", function* () {
    const runs = numbersOf(30)
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(
      ...runs.map((n) =>
        advanced(n, {
          steps: numbersOf(100).map((position) => step(position - 1)),
          waits: numbersOf(100).map((seq) => sleep(seq, 900))
        })
      )
    )
    const loaded = yield* loadSmall(runs)
    assert.isAtLeast(loaded.size, 10)
    const alone = yield* Effect.forEach([...loaded.keys()], (run_id) =>
      WorkflowStore.use((store) => store.load({ env_id: envId(1), run_id }))
    )
    assert.deepStrictEqual([...loaded.values()], alone)
  })
]
