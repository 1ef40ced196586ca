/** Positions of new results. */
import { assert, it } from "@effect/vitest"
import { type StepRecord, Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import { Progress } from "../../../src/runtime/workflows/Progress.ts"

const at = Timestamp.make(0)

const result = (seq: number): Omit<StepRecord, "position"> => ({
  ...{ seq, kind: "sleep", name: `sleep ${seq}`, ok: true, result: null, attempts: 1, started_at: at, ended_at: at }
})

const limits = { steps: 100, resultBytes: 1_000, historyLength: 1_000, eventWaits: 100 }

const begin = (steps: ReadonlyArray<StepRecord>) => {
  const written: Array<ReadonlyArray<readonly [seq: number, position: number]>> = []
  const progress = new Progress({
    ...{ history: { steps, waits: [] }, limits, onStored: () => Effect.void, toResult: (step) => step },
    ...{ onCommitted: Effect.void, onRefused: () => undefined },
    write: (stored) => {
      written.push(stored.map(({ seq, position }) => [seq, position]))
      return Effect.succeed(true)
    }
  })
  return { progress, written }
}

it.effect("a result follows the last position of a history with a gap", () =>
  Effect.gen(function* () {
    const { progress, written } = begin([
      { position: 0, ...result(0) },
      { position: 2, ...result(1) }
    ])
    yield* progress.record(result(2))
    assert.deepStrictEqual(written, [[[2, 3]]])
    assert.strictEqual(progress.count, 4)
  })
)
