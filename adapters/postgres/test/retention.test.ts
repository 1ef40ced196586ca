import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import type { EnvId } from "@weft/core"
import { type JournalEntry, JournalStore, leastIdAt, RunId, RunStore, type Stores, Timestamp } from "@weft/core/adapter"
import { database } from "@weft/postgres"
import { Effect, Fiber, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { TestClock } from "effect/testing"
import { freshDatabase } from "./Fresh.ts"

const { delivery, ended, envId, event, everything, logLine, run, runHolding } = Samples
const day = 86_400_000

/** A Thursday, the first day of a partition. */
const begin = Date.UTC(2024, 1, 29)

const idAt = (instant: number, n: number) =>
  RunId.make(leastIdAt(RunId, instant).slice(0, -3) + String(n).padStart(3, "0"))

/** Run `n` of an environment, started at this instant. */
const runAt = (instant: number, n: number, env = 1) =>
  run(n, { run_id: idAt(instant, n), env_id: envId(env), start_time: Timestamp.make(instant) })

const over = (instant: number, n: number, env = 1): JournalEntry => ({
  _tag: "Ended",
  run: ended(runAt(instant, n, env), n % 2 === 0 ? { status: "failed" } : {}),
  logs: [logLine(0)]
})

/** Selects all runs of these environments that started before the instant. */
const before = (instant: number, ...envs: ReadonlyArray<number>): ReadonlyMap<EnvId, RunId> =>
  new Map(envs.map((env) => [envId(env), leastIdAt(RunId, instant)]))

const connected = (url: string) =>
  Effect.provide(
    PgClient.makeClient({ url: Redacted.make(url), startupParameters: { search_path: "weft" } }),
    Reactivity.layer
  )

const listPartitions = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ name: string }>`SELECT inhrelid::regclass::text AS name FROM pg_inherits
      WHERE inhparent = 'runs'::regclass AND inhrelid::regclass::text >= 'runs_2' ORDER BY 1`,
    (rows) => rows.map(({ name }) => name)
  )

/** Returns the number of remaining runs. Asserts that lists and statistics agree. */
const remaining = (env = 1) =>
  Effect.gen(function* () {
    const runs = yield* RunStore
    const { items, total } = yield* runs.list(envId(env), everything, {})
    const { total_runs, failed } = yield* runs.stats(envId(env))
    assert.deepStrictEqual([total, total_runs], [items.length, items.length])
    assert.strictEqual(failed, items.filter((item) => item.status === "failed").length)
    return items.length
  })

const purgeWhole = (which: ReadonlyMap<EnvId, RunId>) => JournalStore.use((journal) => journal.purgeWhole(which))
const commit = (...entries: ReadonlyArray<JournalEntry>) => JournalStore.use((journal) => journal.commit(entries, null))

/** Stores runs of two partitions from `begin` on. Another node starts `days` later. */
const scene = <E>(
  days: number,
  body: (sql: PgClient.PgClient, url: string) => Effect.Effect<void, E, Stores>,
  ...more: ReadonlyArray<JournalEntry>
) =>
  Effect.gen(function* () {
    const url = yield* freshDatabase
    const first = [
      over(begin + day, 1),
      over(begin + 2 * day, 2),
      over(begin + 3 * day, 3, 2),
      over(begin + 8 * day, 4)
    ]
    yield* TestClock.setTime(begin)
    yield* Effect.provide(commit(...first, ...more), database({ url }))
    yield* TestClock.setTime(begin + days * day)
    yield* Effect.provide(body(yield* connected(url), url), database({ url }))
  }).pipe(Effect.scoped)

const long = runAt(begin + 4 * day, 5)

describe("old runs", () => {
  it.effect("are removed with their partition when no environment retains any of them, with their counts", () =>
    scene(
      20,
      Effect.fnUntraced(function* (sql) {
        const [bytes] = yield* sql`SELECT sum(bytes)::text AS bytes, sum(month_runs)::text AS began FROM run_counts`
        assert.strictEqual(yield* purgeWhole(before(begin + 7 * day, 1, 2)), 3)
        assert.isFalse((yield* listPartitions(sql)).includes("runs_20240229"))
        assert.deepStrictEqual([yield* remaining(1), yield* remaining(2)], [1, 0])
        const [counts] = yield* sql`SELECT sum(bytes)::text AS bytes, sum(month_runs)::text AS began FROM run_counts`
        assert.deepStrictEqual(counts, { bytes: String(Number(bytes?.bytes) / 4), began: bytes?.began })
        assert.strictEqual(yield* purgeWhole(before(begin + 7 * day, 1, 2)), 0)
        // Later runs of that time are stored nevertheless.
        yield* commit(over(begin + day, 9))
        assert.strictEqual(yield* remaining(1), 2)
      })
    )
  )

  it.effect("are removed with their partition together with their steps", () =>
    Effect.suspend(() => {
      const at = (instant: number, n: number) => {
        const held = delivery(n, event(n), { durable: true })
        const started = runHolding(n, held, { ...runAt(instant, n), event_id: held.event_id, activations: 1 })
        const published = { _tag: "Appended", event: event(n), deliveries: [{ delivery: held, run: started }] } as const
        const of = { run: started, deliveryId: held.delivery_id }
        const step = { position: 0, seq: 0, kind: "step", name: "a", ok: true, result: null, attempts: 1 } as const
        const times = { started_at: Samples.at(0), ended_at: Samples.at(0) }
        const steps = [0, 1, 2].map((position) => ({ ...step, ...times, position, seq: position }))
        const end = { _tag: "Settled", ...of, run: ended(started), logs: [], next: null } as const
        const advanced = { _tag: "Advanced", ...of, at: Samples.at(0), steps, waits: [], suspension: null } as const
        return { entries: [published, advanced, end], started }
      }
      const [old, young] = [at(begin + day, 11), at(begin + 8 * day, 12)]
      return scene(
        20,
        Effect.fnUntraced(function* (sql) {
          assert.strictEqual(yield* purgeWhole(before(begin + 7 * day, 1, 2)), 4)
          const steps = yield* sql<{ run_id: string }>`SELECT run_id FROM workflow_steps`
          assert.deepStrictEqual(
            steps.map(({ run_id }) => run_id),
            [0, 1, 2].map(() => young.started.run_id)
          )
        }),
        ...old.entries,
        ...young.entries
      )
    })
  )

  it.effect("that an earlier release detached are removed, without the columns of durable runs", () =>
    scene(
      20,
      Effect.fnUntraced(function* (sql) {
        yield* sql.unsafe("ALTER TABLE runs DETACH PARTITION runs_20240229")
        yield* sql.unsafe("ALTER TABLE runs_20240229 RENAME TO runs_20240229_gone")
        yield* sql.unsafe("ALTER TABLE runs_20240229_gone DROP COLUMN activations, DROP COLUMN waiting")
        assert.strictEqual(yield* purgeWhole(before(begin + 7 * day, 1, 2)), 3)
        assert.deepStrictEqual([yield* remaining(1), yield* remaining(2)], [1, 0])
      })
    )
  )

  it.effect("stay while an environment retains some of them", () =>
    scene(
      20,
      Effect.fnUntraced(function* () {
        for (const which of [before(begin + 7 * day, 1), before(begin + 7 * day - 1, 1, 2), new Map()]) {
          assert.strictEqual(yield* purgeWhole(which), 0)
        }
        assert.deepStrictEqual([yield* remaining(1), yield* remaining(2)], [3, 1])
      })
    )
  )

  it.effect("stay while one of them is running, which can still end", () =>
    scene(
      20,
      Effect.fnUntraced(function* () {
        assert.strictEqual(yield* purgeWhole(before(begin + 7 * day, 1, 2)), 0)
        assert.deepStrictEqual(yield* commit({ _tag: "Ended", run: ended(long), logs: [] }), [true])
        assert.strictEqual(yield* purgeWhole(before(begin + 7 * day, 1, 2)), 4)
        assert.deepStrictEqual([yield* remaining(1), yield* remaining(2)], [1, 0])
      }),
      { _tag: "Started", run: long }
    )
  )

  it.effect("that were purged one by one leave an empty partition that is removed; future partitions stay", () =>
    scene(
      8.5,
      Effect.fnUntraced(function* (sql) {
        const journal = yield* JournalStore
        for (const env of [1, 2]) yield* journal.purge(envId(env), leastIdAt(RunId, begin + 7 * day), 100)
        assert.strictEqual(yield* purgeWhole(new Map()), 0)
        const [first] = yield* listPartitions(sql)
        assert.strictEqual(first, "runs_20240307")
        assert.isAtLeast((yield* listPartitions(sql)).length, 2)
        assert.strictEqual(yield* remaining(1), 1)
      })
    )
  )

  it.effect("are not removed by a node whose clock is ahead of the database's", () =>
    scene(
      (Date.now() + day - begin) / day,
      Effect.fnUntraced(function* () {
        assert.strictEqual(yield* purgeWhole(before(begin + 7 * day, 1, 2)), 0)
        assert.strictEqual(yield* remaining(1), 3)
      })
    )
  )

  it.effect("of a detached partition are subtracted from the counts by the next node, if the first one stopped", () =>
    scene(
      5,
      Effect.fnUntraced(function* (sql) {
        yield* sql`ALTER TABLE runs DETACH PARTITION runs_20240229`
        yield* sql`ALTER TABLE runs_20240229 RENAME TO runs_20240229_gone`
        assert.strictEqual(yield* purgeWhole(new Map()), 3)
        assert.deepStrictEqual([yield* remaining(1), yield* remaining(2)], [1, 0])
        const rest = yield* sql`SELECT 1 FROM pg_class WHERE relname LIKE 'runs_20240229%' AND relkind = 'r'`
        assert.strictEqual(rest.length, 0)
      })
    )
  )

  it.effect("are removed once by several concurrent nodes while others store runs", () =>
    scene(
      20,
      Effect.fnUntraced(function* (_, url) {
        const writer = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: 60 }, (_, index) => index + 100),
            (n) => commit(over(begin + 20 * day, n))
          )
        )
        const pass = purgeWhole(before(begin + 7 * day, 1, 2))
        const removed = yield* Effect.all([pass, Effect.provide(pass, database({ url })), pass], {
          concurrency: "unbounded"
        })
        yield* Fiber.join(writer)
        assert.strictEqual(
          removed.reduce((sum, n) => sum + n, 0),
          3
        )
        assert.deepStrictEqual([yield* remaining(1), yield* remaining(2)], [61, 0])
      })
    )
  )
})
