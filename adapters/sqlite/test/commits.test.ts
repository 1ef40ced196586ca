/** Commits of the journal in its thread: what comes of a batch when the driver fails in its midst, and of odd entries. */
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { type JournalEntry, startRun } from "@weft/core"
import { Database, journalStatements, migrate, sqlite } from "@weft/sql"
import { Effect } from "effect"
import { Commits } from "../src/Commits.ts"
import { type Connection, reasonOf } from "../src/Connection.ts"
import { toRows } from "../src/EntryRows.ts"
import { clientOf, connect } from "../src/SqliteClient.ts"
import { WriteTurn } from "../src/WriteTurn.ts"

const opened = Effect.gen(function* () {
  const connection = yield* connect({ file: ":memory:", synchronous: "normal", readonly: false })
  const client = yield* clientOf(connection)
  const database = Database.of({ dialect: sqlite, writer: client, reader: client, exclusive: true })
  yield* Effect.provideService(migrate, Database, database)
  return { connection, commits: new Commits(connection.database, journalStatements(database), new WriteTurn()) }
})

type Opened = Effect.Success<typeof opened>

const check = (claim: string, body: (opened: Opened) => void) => it.effect(claim, () => Effect.map(opened, body))

const runOf = (n: number) => startRun(Samples.delivery(n), Samples.runId(n), Samples.nodeId(1), Samples.at(n))

/** An event whose delivery is born claimed. */
const appended = (n: number): JournalEntry => ({
  _tag: "Appended",
  event: Samples.event(n),
  deliveries: [{ delivery: Samples.delivery(n), run: runOf(n) }]
})

const settled = (n: number): JournalEntry => ({
  _tag: "Settled",
  run: Samples.ended(runOf(n)),
  logs: [],
  deliveryId: Samples.deliveryId(n),
  next: null
})

const count = ({ database }: Connection, query: string): unknown => database.prepare(query).get()?.n

const counts = (connection: Connection) => ({
  events: count(connection, "SELECT count(*) AS n FROM events"),
  running: count(connection, "SELECT count(*) AS n FROM runs WHERE status = 'running'"),
  succeeded: count(connection, "SELECT count(*) AS n FROM runs WHERE status = 'succeeded'"),
  countedEvents: count(connection, "SELECT coalesce(sum(n), 0) AS n FROM event_counts"),
  countedRuns: count(connection, "SELECT coalesce(sum(n), 0) AS n FROM run_counts")
})

const nothing = { events: 0, running: 0, succeeded: 0, countedEvents: 0, countedRuns: 0 }

const thrownBy = (body: () => unknown): unknown => {
  try {
    body()
  } catch (cause) {
    return cause
  }
  return undefined
}

describe("a commit", () => {
  check("applies what begins and ends within it, and says which entries did not count", ({ connection, commits }) => {
    const entries = [appended(1), settled(1), settled(1), appended(2), settled(3)]
    assert.deepStrictEqual(commits.apply(toRows(entries)), [2, 4])
    const stored = { events: 2, running: 1, succeeded: 1, countedEvents: 2, countedRuns: 1 }
    assert.deepStrictEqual(counts(connection), stored)
    // Once more changes nothing: an event that is stored already is kept as it is.
    assert.deepStrictEqual(commits.apply(toRows([appended(1), appended(2)])), [])
    assert.deepStrictEqual(counts(connection), stored)
  })

  // ABORT undoes the statement, ROLLBACK ends the transaction, as a full disk may.
  for (const action of ["ABORT", "ROLLBACK"]) {
    check(`that fails in its midst leaves nothing, and the same again succeeds (${action})`, (scene) => {
      const { connection, commits } = scene
      connection.database.exec(`CREATE TRIGGER fault BEFORE INSERT ON runs WHEN NEW.run_id = '${Samples.runId(3)}'
        BEGIN SELECT RAISE(${action}, 'the fault'); END`)
      const rows = toRows([appended(1), settled(1), appended(2), appended(3), appended(4)])
      assert.throws(() => commits.apply(rows), "the fault")
      assert.isFalse(connection.database.isTransaction)
      assert.deepStrictEqual(counts(connection), nothing)

      connection.database.exec("DROP TRIGGER fault")
      assert.deepStrictEqual(commits.apply(rows), [])
      assert.deepStrictEqual(counts(connection), {
        events: 4,
        running: 3,
        succeeded: 1,
        countedEvents: 4,
        countedRuns: 1
      })
    })
  }

  check("for which there is no room left may be tried again, and succeeds when there is", ({ connection, commits }) => {
    const { database } = connection
    const pages = database.prepare("PRAGMA page_count").get()?.page_count
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 2}`)
    const rows = toRows(Array.from({ length: 200 }, (_, index) => appended(index + 1)))
    const cause = thrownBy(() => commits.apply(rows))
    assert.isTrue(reasonOf(cause).isRetryable, String(cause))
    assert.deepStrictEqual(counts(connection), nothing)

    database.exec("PRAGMA max_page_count = 1000000")
    assert.deepStrictEqual(commits.apply(rows), [])
    assert.strictEqual(counts(connection).running, 200)
  })

  check("of rows that are cut short, or of no entry, is a defect and leaves nothing", ({ connection, commits }) => {
    const rows = toRows([appended(1), settled(1)])
    assert.throws(() => commits.apply(rows.slice(0, -1)), "cut short")
    const cause = thrownBy(() => commits.apply([...rows, 9]))
    assert.include(String(cause), "There is no entry 9")
    assert.isFalse(reasonOf(cause).isRetryable)
    assert.deepStrictEqual(counts(connection), nothing)
    assert.deepStrictEqual(commits.apply(rows), [])
  })
})
