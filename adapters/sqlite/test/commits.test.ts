/** Commits of the journal in its thread: failures of the driver in the middle of a batch, and invalid entries. */
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { type JournalEntry, startRun } from "@weft/core/adapter"
import { Database, journalStatements, migrate, sqlite } from "@weft/sql"
import { Effect } from "effect"
import { Commits } from "../src/Commits.ts"
import { type Connection, toSqlErrorReason } from "../src/Connection.ts"
import { toRows } from "../src/EntryRows.ts"
import { connect, makeClient } from "../src/SqliteClient.ts"
import { WriteLock } from "../src/WriteLock.ts"

const opened = Effect.gen(function* () {
  const connection = yield* connect({ file: ":memory:", synchronous: "normal", readonly: false })
  const client = yield* makeClient(connection)
  const database = Database.of({ dialect: sqlite, writer: client, reader: client, exclusive: true })
  yield* Effect.provideService(migrate, Database, database)
  return { connection, commits: new Commits(connection.database, journalStatements(database), new WriteLock()) }
})

type Opened = Effect.Success<typeof opened>

const check = (claim: string, body: (opened: Opened) => void) => it.effect(claim, () => Effect.map(opened, body))

const makeRun = (n: number) => startRun(Samples.delivery(n), Samples.runId(n), Samples.nodeId(1), Samples.at(n))

/** An event whose delivery is claimed on insert. */
const appended = (n: number): JournalEntry => ({
  _tag: "Appended",
  event: Samples.event(n),
  deliveries: [{ delivery: Samples.delivery(n), run: makeRun(n) }]
})

const settled = (n: number): JournalEntry => ({
  _tag: "Settled",
  run: Samples.ended(makeRun(n)),
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
  check("applies starts and ends of a run, and returns the entries without effect", ({ connection, commits }) => {
    const entries = [appended(1), settled(1), settled(1), appended(2), settled(3)]
    assert.deepStrictEqual(commits.apply(toRows(entries)), [2, 4])
    const stored = { events: 2, running: 1, succeeded: 1, countedEvents: 2, countedRuns: 1 }
    assert.deepStrictEqual(counts(connection), stored)
    // A repeated commit changes nothing: a stored event is not overwritten.
    assert.deepStrictEqual(commits.apply(toRows([appended(1), appended(2)])), [])
    assert.deepStrictEqual(counts(connection), stored)
  })

  // ABORT rolls back the statement, ROLLBACK the transaction, as a full disk may do.
  for (const action of ["ABORT", "ROLLBACK"]) {
    check(`that fails halfway changes nothing, and succeeds when repeated (${action})`, (scene) => {
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

  check("fails with a retryable error on a full disk, and succeeds after it has space", ({ connection, commits }) => {
    const { database } = connection
    const pages = database.prepare("PRAGMA page_count").get()?.page_count
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 2}`)
    const rows = toRows(Array.from({ length: 200 }, (_, index) => appended(index + 1)))
    const cause = thrownBy(() => commits.apply(rows))
    assert.isTrue(toSqlErrorReason(cause).isRetryable, String(cause))
    assert.deepStrictEqual(counts(connection), nothing)

    database.exec("PRAGMA max_page_count = 1000000")
    assert.deepStrictEqual(commits.apply(rows), [])
    assert.strictEqual(counts(connection).running, 200)
  })

  check("dies on truncated rows or an unknown entry, and changes nothing", ({ connection, commits }) => {
    const rows = toRows([appended(1), settled(1)])
    assert.throws(() => commits.apply(rows.slice(0, -1)), "truncated")
    const cause = thrownBy(() => commits.apply([...rows, 9]))
    assert.include(String(cause), "Unknown journal entry tag 9")
    assert.isFalse(toSqlErrorReason(cause).isRetryable)
    assert.deepStrictEqual(counts(connection), nothing)
    assert.deepStrictEqual(commits.apply(rows), [])
  })
})
