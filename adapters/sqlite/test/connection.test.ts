/** The connection with Node's driver, and the query plans of frequent statements. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { RunStore, StreamStore } from "@weft/core/adapter"
import { Database, migrate, recordStores, sqlite } from "@weft/sql"
import { Effect, Layer } from "effect"
import { type ConnectionOptions, connect, makeClient, open } from "../src/SqliteClient.ts"
import { temporaryFolder } from "./Fresh.ts"

const inMemory: ConnectionOptions = { file: ":memory:", synchronous: "normal", readonly: false }

describe("a connection", () => {
  it.effect("returns texts, numbers, bytes and nulls as they were stored", () =>
    Effect.gen(function* () {
      const sql = yield* open(inMemory)
      yield* sql`CREATE TABLE things (a TEXT, b REAL, c BLOB, d INTEGER) STRICT`
      const bytes = new Uint8Array([0, 1, 255])
      assert.deepStrictEqual(yield* sql`INSERT INTO things VALUES (${"“ä”"}, ${1.5}, ${bytes}, ${null})`, [])
      const [row] = yield* sql`SELECT * FROM things`
      assert.deepStrictEqual({ ...row }, { a: "“ä”", b: 1.5, c: bytes, d: null })
      assert.deepStrictEqual(yield* sql`SELECT a, b FROM things`.values, [["“ä”", 1.5]])
    })
  )

  it.effect("executes more statements than it caches, including evicted ones", () =>
    Effect.gen(function* () {
      const sql = yield* open(inMemory)
      for (let round = 0; round < 2; round++) {
        for (let n = 0; n < 250; n++) {
          const [row] = yield* sql.unsafe<{ readonly n: number }>(`SELECT ${n} + ? AS n`, [round])
          assert.strictEqual(row?.n, n + round)
        }
      }
    })
  )

  it.effect("fails with a retryable error only if a retry may succeed", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "weft.db")
      const writer = yield* open({ ...inMemory, file })
      yield* writer`CREATE TABLE names (name TEXT PRIMARY KEY) STRICT`
      yield* writer`INSERT INTO names VALUES (${"one"})`
      const duplicate = yield* Effect.flip(writer`INSERT INTO names VALUES (${"one"})`)
      const invalid = yield* Effect.flip(writer`SELECT nothing FROM nowhere`)
      const unknown = yield* Effect.flip(writer.unsafe("SELECT ?", [true]))
      assert.deepStrictEqual(
        [duplicate, invalid, unknown].map((error) => error.isRetryable),
        [false, false, false]
      )
      assert.include(String(unknown.reason.cause), "SQLite cannot store a value of type boolean")

      const reader = yield* open({ ...inMemory, file, readonly: true })
      const refused = yield* Effect.flip(reader`INSERT INTO names VALUES (${"two"})`)
      assert.isTrue(refused.isRetryable)
    })
  )
})

/** Returns the query plan of each statement that the effect prepares. */
const explain = Effect.fnUntraced(function* (use: Effect.Effect<unknown, unknown, RunStore | StreamStore>) {
  const connection = yield* connect(inMemory)
  const client = yield* makeClient(connection)
  const database = Database.of({ dialect: sqlite, writer: client, reader: client, exclusive: true })
  yield* Effect.provideService(migrate, Database, database)
  const prepared: Array<string> = []
  const prepare = connection.database.prepare.bind(connection.database)
  connection.database.prepare = (sql) => {
    prepared.push(sql)
    return prepare(sql)
  }
  yield* Effect.provide(use, recordStores.pipe(Layer.provide(Layer.succeed(Database, database))))
  return prepared.map((sql) => ({
    sql,
    plan: prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((step) => String(step.detail))
  }))
})

describe("query plans", () => {
  it.effect("use the index of the event to find its runs", () =>
    Effect.gen(function* () {
      const list = RunStore.use((runs) =>
        runs.list(Samples.envId(1), Samples.everything, { eventId: Samples.eventId(1) })
      )
      const statements = (yield* explain(list)).filter(({ sql }) => /FROM runs\b/.test(sql))
      assert.isNotEmpty(statements)
      for (const { sql, plan } of statements) {
        assert.isTrue(
          plan.some((detail) => detail.includes("runs_of_event")),
          `${sql}\n${plan.join("\n")}`
        )
      }
    })
  )

  it.effect("use the index of suspended runs for the filter waiting", () =>
    Effect.gen(function* () {
      const list = RunStore.use((runs) => runs.list(Samples.envId(1), Samples.everything, { waiting: "timer" }))
      const statements = (yield* explain(list)).filter(({ sql }) => /FROM runs\b/.test(sql))
      assert.isNotEmpty(statements)
      for (const { sql, plan } of statements) {
        const details = plan.join("\n")
        assert.include(details, "runs_waiting (env_id=? AND waiting_for=?)", sql)
        assert.notInclude(details, "TEMP B-TREE", sql)
      }
    })
  )

  it.effect("use the index of the stream to find earlier events, not all events", () =>
    Effect.gen(function* () {
      const query = { from: Samples.at(0), stream: null, limit: 10, bytes: 10 }
      const since = StreamStore.use((streams) => streams.since(Samples.envId(1), query))
      const statements = (yield* explain(since)).filter(({ sql }) => sql.includes("earlier"))
      assert.lengthOf(statements, 1)
      for (const { plan } of statements) {
        const [before, ...others] = plan.filter((detail) => detail.includes("earlier"))
        assert.deepStrictEqual(others, [])
        assert.include(before, "events_of_stream (env_id=? AND stream_id=?)")
      }
    })
  )
})
