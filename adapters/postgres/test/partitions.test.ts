import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { EventId, EventStore, JournalStore, leastIdAt, RunId, RunStore } from "@weft/core/adapter"
import { database, type PostgresOptions } from "@weft/postgres"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { missingRanges, type Range, requiredRange } from "../src/PartitionRanges.ts"
import { listPartitions, type Partition } from "../src/Partitions.ts"
import { freshDatabase } from "./Fresh.ts"

const { ended, envId, everything, run, waiting } = Samples

const day = 86_400_000

describe("missing partition ranges", () => {
  const days = fc.integer({ min: 1, max: 60 })
  const instant = fc.integer({ min: 0, max: 30_000 * day })
  const history = fc.array(fc.tuple(instant, days), { maxLength: 6 })

  /** Returns the ranges after each node has added those for its own time and partition length. */
  const after = (nodes: ReadonlyArray<readonly [number, number]>): ReadonlyArray<Range> => {
    const existing: Array<Range> = []
    for (const [now, length] of nodes) existing.push(...missingRanges(existing, requiredRange(now, length), length))
    return existing
  }

  it("are filled without overlaps, in whole days, for any clocks and lengths", () => {
    fc.assert(
      fc.property(history, instant, days, (nodes, now, length) => {
        const all = [...after([...nodes, [now, length]])].sort((a, b) => a.from - b.from)
        all.forEach((range, index) => {
          assert.isBelow(range.from, range.to)
          assert.deepStrictEqual([range.from % day, range.to % day], [0, 0])
          assert.isAtMost(all[index - 1]?.to ?? 0, range.from)
        })
        const { from, to } = requiredRange(now, length)
        assert.deepStrictEqual(missingRanges(all, { from, to }, length), [])
        for (let at = from; at < to; at += day) assert.isTrue(all.some((range) => range.from <= at && at < range.to))
      })
    )
  })

  it("begin a day ago and end at least two weeks from now", () => {
    const now = 20_000 * day + 1
    assert.deepStrictEqual(requiredRange(now, 1), { from: now - day, to: now + 14 * day })
    assert.deepStrictEqual(requiredRange(now, 30), { from: now - day, to: now + 60 * day })
  })
})

const connected = (url: string) =>
  Effect.provide(
    PgClient.makeClient({ url: Redacted.make(url), startupParameters: { search_path: "weft" } }),
    Reactivity.layer
  )

const node = (url: string, options: Partial<PostgresOptions> = {}) => database({ url, ...options })

const covers = (partitions: ReadonlyArray<Partition>, table: string, now: number) =>
  partitions.some((partition) => partition.table === table && partition.from <= now && now < partition.to)

/** Waits in real time, because the database does not use the test clock. */
const moment = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))

const at2024 = Date.UTC(2024, 1, 29, 12)

/** Ids of an instant. `n` distinguishes those of the same instant. */
const idAt = (instant: number, n: number) => leastIdAt(RunId, instant).slice(0, -1) + String(n)
const runAt = (instant: number, n = 0) => ended(run(n, { run_id: RunId.make(idAt(instant, n)) }))
const eventAt = (instant: number, n = 0) => EventId.make(idAt(instant, n))

describe("partitions", () => {
  it.effect("exist from now to two weeks ahead, and store new rows", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* TestClock.setTime(at2024)
      yield* Effect.gen(function* () {
        const journal = yield* JournalStore
        yield* journal.commit([{ _tag: "Ended", run: runAt(at2024), logs: [] }], null)
        yield* journal.commit([waiting(1, { event_id: eventAt(at2024 + 10 * day) })], null)
      }).pipe(Effect.provide(node(url)))
      const sql = yield* connected(url)
      const partitions = yield* listPartitions(sql)
      for (const now of [at2024 - day, at2024, at2024 + 7 * day, at2024 + 14 * day - 1]) {
        assert.isTrue(covers(partitions, "runs", now) && covers(partitions, "events", now), new Date(now).toISOString())
      }
      const places = yield* sql`SELECT tableoid::regclass::text AS place FROM runs
        UNION ALL SELECT tableoid::regclass::text FROM events`
      assert.deepStrictEqual(places, [{ place: "runs_20240229" }, { place: "events_20240307" }])
    }).pipe(Effect.scoped)
  )

  it.effect("are created as time passes", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* TestClock.setTime(at2024 + 0.4 * day)
      yield* Layer.build(node(url, { partitionDays: 1 }))
      const sql = yield* connected(url)
      const last = at2024 + 14.6 * day
      assert.isFalse(covers(yield* listPartitions(sql), "events", last))
      yield* TestClock.adjust("6 hours")
      while (!covers(yield* listPartitions(sql), "events", last)) yield* moment
    }).pipe(Effect.scoped)
  )

  it.effect("are created once by nodes that start at the same time with different lengths", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* TestClock.setTime(at2024)
      yield* Effect.forEach([1, 7, 7, 2], (partitionDays) => Layer.build(node(url, { partitionDays })), {
        concurrency: "unbounded"
      })
      const partitions = yield* listPartitions(yield* connected(url))
      for (const table of ["runs", "events"]) {
        const own = partitions.filter((it) => it.table === table && it.from > 0).sort((a, b) => a.from - b.from)
        for (const [index, { from }] of own.entries()) assert.isAtMost(own[index - 1]?.to ?? 0, from)
        assert.isTrue(covers(own, table, at2024 + 14 * day - 1))
      }
    }).pipe(Effect.scoped)
  )

  it.effect("take over rows that were stored before they existed", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const [before, within] = [runAt(at2024 - 100 * day), runAt(at2024 + 1)]
      const sql = yield* connected(url)
      const places = sql`SELECT run_id, tableoid::regclass::text AS place FROM runs ORDER BY run_id`
      yield* JournalStore.use((journal) =>
        journal.commit(
          [before, within].map((run) => ({ _tag: "Ended", run, logs: [] }) as const),
          null
        )
      ).pipe(Effect.provide(node(url)))
      assert.deepStrictEqual(
        (yield* places).map((row) => row.place),
        ["runs_default", "runs_default"]
      )
      yield* TestClock.setTime(at2024)
      const runs = yield* RunStore.use((store) => store.list(envId(1), everything, {})).pipe(Effect.provide(node(url)))
      assert.deepStrictEqual(runs, { items: [within, before], total: 2 })
      assert.deepStrictEqual(
        (yield* places).map((row) => row.place),
        ["runs_default", "runs_20240229"]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("of a node whose clock is a year ahead do not affect other nodes", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* TestClock.setTime(at2024 + 365 * day)
      yield* Effect.scoped(Layer.build(node(url)))
      yield* TestClock.setTime(at2024)
      yield* Effect.scoped(Layer.build(node(url)))
      const partitions = yield* listPartitions(yield* connected(url))
      for (const now of [at2024, at2024 + 365 * day]) assert.isTrue(covers(partitions, "runs", now))
      yield* TestClock.setTime(at2024 + 351 * day)
      const events = yield* Effect.gen(function* () {
        const journal = yield* JournalStore
        yield* journal.commit([waiting(1, { event_id: eventAt(at2024 + 351 * day) })], null)
        return yield* EventStore.use((store) => store.list(envId(1), everything))
      }).pipe(Effect.provide(node(url)))
      assert.strictEqual(events.items.length, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("are created later if the tables are locked, without waiting", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* TestClock.setTime(at2024)
      const sql = yield* connected(url)
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT count(*) FROM runs`
          yield* Layer.build(node(url))
          assert.isFalse(covers(yield* listPartitions(sql), "runs", at2024))
        })
      )
      yield* TestClock.adjust("5 minutes")
      while (!covers(yield* listPartitions(sql), "runs", at2024)) yield* moment
    }).pipe(Effect.scoped)
  )
})
