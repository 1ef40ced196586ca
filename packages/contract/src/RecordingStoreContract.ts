/** Contract of `RecordingStore`. Adapters run this suite. */
import { assert } from "@effect/vitest"
import { NotFound } from "@weft/core"
import { type RecordingFilter, RecordingStore, type StoredRecording } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { recording } from "./RecordingSamples.ts"
import { at, envId, everything, projectId, runId } from "./Samples.ts"

export const recordingStoreContract = <E>(adapter: string, layer: Layer.Layer<RecordingStore, E>): void =>
  suite(`RecordingStore contract: ${adapter}`, recordingStoreChecks, layer)

const save = (...recordings: ReadonlyArray<StoredRecording>) => RecordingStore.use((store) => store.save(recordings))
const get = (env: number, run: number, now = at(0)) =>
  RecordingStore.use((store) => store.get(envId(env), runId(run), now))
const list = (filter: RecordingFilter = {}, page = everything, now = at(0)) =>
  RecordingStore.use((store) => store.list(envId(1), page, filter, now))

/** Returns the numbers of the listed runs, and the total. */
const numbers = (filter: RecordingFilter = {}, page = everything, now = at(0)) =>
  Effect.map(list(filter, page, now), ({ items, total }) => [
    items.map(({ run_id }) => Number.parseInt(run_id.slice(-12), 16)),
    total
  ])

const recordingStoreChecks: ReadonlyArray<Check<RecordingStore>> = [
  check("returns a recording to its environment only, and replaces it", function* () {
    const large = recording(1, { contents: recording(1).contents, truncated: 1, host_calls: 0 })
    yield* save(large, recording(2))
    assert.deepStrictEqual(yield* get(1, 1), large)
    assert.deepStrictEqual(yield* Effect.flip(get(2, 1)), new NotFound({ resource: "recording" }))
    const later = recording(1, { status: "failed", length: 9 })
    yield* save(later)
    assert.deepStrictEqual(yield* get(1, 1), later)
  }),

  check("does not return expired recordings, and removes some of them", function* () {
    yield* save(recording(1), recording(2), recording(3, { env_id: envId(2) }))
    const now = at(1001)
    assert.deepStrictEqual(yield* Effect.flip(get(1, 1, now)), new NotFound({ resource: "recording" }))
    assert.deepStrictEqual(yield* get(1, 2, now), recording(2))
    assert.deepStrictEqual(yield* numbers({}, everything, now), [[2], 1])
    const remove = (limit: number) => RecordingStore.use((store) => store.removeExpired(at(1003), limit))
    assert.deepStrictEqual([yield* remove(2), yield* remove(2), yield* remove(2)], [2, 1, 0])
    assert.deepStrictEqual(yield* numbers(), [[], 0])
  }),

  check("lists recordings without their contents, those of the newest runs first, by all filters", function* () {
    const named = { project_id: projectId(2), project_name: "blog" }
    const other = recording(9, { env_id: envId(2) })
    yield* save(recording(1), recording(2, { var: "onPay" }), recording(3, named), recording(4), other)
    const { contents: _, ...summary } = recording(4)
    assert.deepStrictEqual((yield* list()).items[0], summary)
    assert.deepStrictEqual(yield* numbers(), [[4, 3, 2, 1], 4])
    assert.deepStrictEqual(yield* numbers({}, { limit: 2, offset: 1 }), [[3, 2], 4])
    assert.deepStrictEqual(yield* numbers({ fn: { ns: "main", var: "onPay" } }), [[2], 1])
    assert.deepStrictEqual(yield* numbers({ project: "blog" }), [[3], 1])
    assert.deepStrictEqual(yield* numbers({ project: projectId(1) }), [[4, 2, 1], 3])
    assert.deepStrictEqual(yield* numbers({ since: at(3) }), [[4, 3], 2])
    assert.deepStrictEqual(yield* numbers({ only: ["blog"] }), [[3], 1])
    assert.deepStrictEqual(yield* numbers({ only: [projectId(1), "none"] }), [[4, 2, 1], 3])
    assert.deepStrictEqual(yield* numbers({ only: [] }), [[], 0])
  }),

  check("removes the recordings of older runs and of a project, within one environment", function* () {
    yield* save(...[1, 2, 3].map((n) => recording(n)), recording(4, { project_id: projectId(2) }))
    yield* save(recording(5, { env_id: envId(2) }), recording(0, { var: "onPay" }), recording(6, { var: "onPay" }))
    const of = { project_id: projectId(1), ns: "main", var: "onPay" }
    const purgeOf = RecordingStore.use((store) => store.purge(envId(1), runId(6), 9, of))
    assert.deepStrictEqual([yield* purgeOf, yield* purgeOf], [1, 0])
    assert.deepStrictEqual(yield* numbers(), [[6, 4, 3, 2, 1], 5])
    const purge = (limit: number) => RecordingStore.use((store) => store.purge(envId(1), runId(3), limit))
    assert.deepStrictEqual([yield* purge(1), yield* purge(9), yield* purge(9)], [1, 1, 0])
    const remove = (limit: number) => RecordingStore.use((store) => store.removeProject(envId(1), projectId(1), limit))
    assert.deepStrictEqual([yield* remove(9), yield* remove(9)], [2, 0])
    assert.deepStrictEqual(yield* numbers(), [[4], 1])
    assert.deepStrictEqual(yield* get(2, 5), recording(5, { env_id: envId(2) }))
  })
]
