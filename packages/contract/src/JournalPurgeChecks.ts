/** Contract of `JournalStore.purge`. */
import { assert } from "@effect/vitest"
import { EventStore, JournalStore, type Run, RunStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import {
  at,
  claimedOnInsert,
  ended,
  envId,
  eventId,
  everything,
  logLine,
  projectId,
  run,
  runId,
  settled
} from "./Samples.ts"

const over = (n: number, env = 1) =>
  ({ _tag: "Ended", run: ended(run(n, { env_id: envId(env) })), logs: [logLine(0)] }) as const

const remaining = (env = 1) =>
  Effect.map(
    RunStore.use((runs) => runs.list(envId(env), everything, {})),
    ({ items }) => items.map((item) => item.run_id)
  )

export const purgeChecks: ReadonlyArray<Check<JournalStores>> = [
  check("purge removes the ended runs below an id, with their logs", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([over(1), over(2), over(3)], null)
    assert.strictEqual(yield* journal.purge(envId(1), runId(3), 100), 2)
    assert.deepStrictEqual(yield* remaining(), [runId(3)])
    const runs = yield* RunStore
    assert.strictEqual((yield* Effect.flip(runs.get(envId(1), runId(1))))._tag, "NotFound")
    assert.deepStrictEqual(yield* runs.logs(envId(1), runId(1), everything), { items: [], total: 0 })
    assert.strictEqual((yield* runs.logs(envId(1), runId(3), everything)).total, 1)
    assert.strictEqual(yield* journal.purge(envId(1), runId(3), 100), 0)
  }),

  check("purge lowers the counts of lists and statistics", function* () {
    const journal = yield* JournalStore
    const failed = { ...over(2), run: ended(run(2), { status: "failed" }) }
    yield* journal.commit([over(1), failed, over(3)], null)
    yield* journal.purge(envId(1), runId(3), 100)
    const runs = yield* RunStore
    assert.deepStrictEqual(yield* runs.stats(envId(1)), {
      total_runs: 1,
      running: 0,
      succeeded: 1,
      failed: 0,
      cancelled: 0
    })
    assert.strictEqual((yield* runs.list(envId(1), everything, { status: "failed" })).total, 0)
    assert.strictEqual((yield* runs.list(envId(1), everything, {})).total, 1)
  }),

  check("purge keeps running runs, which can still end", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([{ _tag: "Started", run: run(1) }, claimedOnInsert(2), over(3)], null)
    assert.strictEqual(yield* journal.purge(envId(1), runId(9), 100), 1)
    assert.deepStrictEqual(yield* remaining(), [runId(2), runId(1)])
    assert.deepStrictEqual(yield* journal.commit([settled(2, ended(run(2))), over(1)], null), [true, true])
    assert.strictEqual(yield* journal.purge(envId(1), runId(9), 100), 2)
  }),

  check("purge keeps other environments, events and pending deliveries", function* () {
    const journal = yield* JournalStore
    const again = { attempt: 2, due_at: at(50), first_run_id: runId(1) }
    yield* journal.commit([claimedOnInsert(1), settled(1, ended(run(1)), again), over(2, 2)], null)
    assert.strictEqual(yield* journal.purge(envId(1), runId(9), 100), 1)
    assert.deepStrictEqual(yield* remaining(2), [runId(2)])
    assert.strictEqual((yield* (yield* EventStore).get(envId(1), eventId(1))).event_id, eventId(1))
    const { claims } = yield* claimAll(at(50))
    assert.deepStrictEqual([claims.length, claims[0]?.run.origin_run_id], [1, runId(1)])
  }),

  check("purge removes at most limit runs, the lowest ids first", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      [5, 3, 1, 4, 2].map((n) => over(n)),
      null
    )
    assert.strictEqual(yield* journal.purge(envId(1), runId(9), 2), 2)
    assert.deepStrictEqual(yield* remaining(), [runId(5), runId(4), runId(3)])
    assert.strictEqual(yield* journal.purge(envId(1), runId(9), 2), 2)
    assert.strictEqual(yield* journal.purge(envId(1), runId(9), 2), 1)
    assert.strictEqual(yield* journal.purge(envId(1), runId(9), 2), 0)
  }),

  check("purge of a function removes its runs only", function* () {
    const journal = yield* JournalStore
    const named = (n: number, fields: Partial<Run>) =>
      ({ _tag: "Ended", run: ended(run(n, { ns: "main", var: "short", ...fields })), logs: [] }) as const
    const of = { project_id: run(1).project_id, ns: "main", var: "short" }
    const others: ReadonlyArray<Partial<Run>> = [{ var: "long" }, { ns: "side" }, { project_id: projectId(9) }]
    yield* journal.commit(
      [named(1, {}), ...others.map((fields, index) => named(2 + index, fields)), named(5, {}), named(6, {})],
      null
    )
    assert.strictEqual(yield* journal.purge(envId(1), runId(6), 1, of), 1)
    assert.deepStrictEqual(yield* remaining(), [6, 5, 4, 3, 2].map(runId))
    assert.strictEqual(yield* journal.purge(envId(1), runId(6), 100, of), 1)
    assert.deepStrictEqual(yield* remaining(), [6, 4, 3, 2].map(runId))
    assert.strictEqual(yield* journal.purge(envId(2), runId(9), 100, of), 0)
  }),

  check("purgeWhole removes only expired runs, and purge removes the others", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([over(1), over(2), over(3), over(4, 2), { _tag: "Started", run: run(5) }], null)
    const whole = yield* journal.purgeWhole(new Map([[envId(1), runId(3)]]))
    assert.strictEqual(whole + (yield* journal.purge(envId(1), runId(3), 100)), 2)
    assert.deepStrictEqual(yield* remaining(), [runId(5), runId(3)])
    assert.deepStrictEqual(yield* remaining(2), [runId(4)])
    const { total_runs, running } = yield* RunStore.use((runs) => runs.stats(envId(1)))
    assert.deepStrictEqual([total_runs, running], [2, 1])
  })
]
