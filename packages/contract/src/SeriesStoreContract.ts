/** Contract of `SeriesStore`. Adapters run this suite. */
import { assert } from "@effect/vitest"
import { type MinuteCounts, type SeriesKey, type SeriesSelection, SeriesStore } from "@weft/core/adapter"
import type { Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { at, envId, nodeId, projectId } from "./Samples.ts"

export const seriesStoreContract = <E>(adapter: string, layer: Layer.Layer<SeriesStore, E>): void =>
  suite(`SeriesStore contract: ${adapter}`, seriesStoreChecks, layer)

/** Counts of environment 1 in the minute `minute`. */
const counts = (minute: number, fields: Partial<MinuteCounts> = {}): MinuteCounts => ({
  env_id: envId(1),
  at: at(minute * 60_000),
  project_id: projectId(1),
  project_name: "shop",
  ns: "main",
  var: "onOrder",
  node_id: nodeId(1),
  ...{ succeeded: 3, failed: 2, cancelled: 1, retried: 1 },
  wait: "1:3",
  duration: "1:2 12:1",
  ...fields
})

const save = (...rows: ReadonlyArray<MinuteCounts>) => SeriesStore.use((store) => store.save(rows))
const whole: SeriesSelection = { from: at(0), to: at(3_600_000) }
const read = (selection: Partial<SeriesSelection> = {}, after: SeriesKey | null = null, limit = 100) =>
  SeriesStore.use((store) => store.read(envId(1), { ...whole, ...selection }, after, limit))

const seriesStoreChecks: ReadonlyArray<Check<SeriesStore>> = [
  check("replaces the row of a function, minute and node, and keeps those of other nodes", function* () {
    const other = counts(1, { node_id: nodeId(2) })
    yield* save(counts(1), other)
    const later = counts(1, { succeeded: 9, retried: 0, wait: "", duration: "3:9", project_name: "store" })
    yield* save(later, counts(2))
    assert.deepStrictEqual(yield* read(), [later, other, counts(2)])
  }),

  check("selects a period, a project, a function and permitted projects of one environment", function* () {
    const named = { project_id: projectId(2), project_name: "blog" }
    const others = counts(3, { project_id: null, project_name: "", ns: "", var: "" })
    const [first, second, fourth] = [counts(1), counts(2, { var: "onPay" }), counts(4, named)]
    const rows = [first, second, others, fourth]
    yield* save(...rows, counts(1, { env_id: envId(2) }))
    assert.deepStrictEqual(yield* read(), rows)
    assert.deepStrictEqual(yield* read({ from: at(120_000), to: at(180_001) }), [second, others])
    assert.deepStrictEqual(yield* read({ projectId: projectId(2) }), [fourth])
    assert.deepStrictEqual(yield* read({ projectId: projectId(1), fn: { ns: "main", var: "onOrder" } }), [first])
    assert.deepStrictEqual(yield* read({ only: ["blog"] }), [fourth])
    assert.deepStrictEqual(yield* read({ only: [projectId(1)] }), [first, second])
    assert.deepStrictEqual(yield* read({ only: [] }), [])
    const last = (selection: Partial<SeriesSelection> = {}) =>
      SeriesStore.use((store) => store.lastSuccess(envId(1), { ...whole, ...selection }))
    assert.strictEqual(yield* last(), fourth.at)
    assert.strictEqual(yield* last({ projectId: projectId(1) }), second.at)
    yield* save(counts(9, { succeeded: 0 }))
    assert.strictEqual(yield* last({ from: at(300_000) }), null)
  }),

  check("reads rows in the order of their keys, in pages", function* () {
    const rows = [1, 2].flatMap((minute) =>
      ["a", "b"].flatMap((name) => [1, 2].map((node) => counts(minute, { var: name, node_id: nodeId(node) })))
    )
    yield* save(...rows.toReversed())
    const pages: Array<ReadonlyArray<MinuteCounts>> = []
    let after: SeriesKey | null = null
    while (pages.at(-1)?.length !== 0) {
      const page: ReadonlyArray<MinuteCounts> = yield* read({}, after, 3)
      pages.push(page)
      after = page.at(-1) ?? null
    }
    assert.deepStrictEqual(pages.flat(), rows)
    assert.deepStrictEqual(
      pages.map(({ length }) => length),
      [3, 3, 2, 0]
    )
  }),

  check("removes old rows of an environment in bounded steps", function* () {
    yield* save(...[1, 2, 3, 4].map((minute) => counts(minute)), counts(1, { env_id: envId(2) }))
    const purge = SeriesStore.use((store) => store.purge(envId(1), at(4 * 60_000), 2))
    assert.strictEqual(yield* purge, 2)
    assert.strictEqual(yield* purge, 1)
    assert.strictEqual(yield* purge, 0)
    assert.deepStrictEqual(yield* read(), [counts(4)])
    const rest = yield* SeriesStore.use((store) => store.read(envId(2), whole, null, 10))
    assert.lengthOf(rest, 1)
  })
]
