/** Databases of earlier versions, brought up to date with what is in them. */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { EnvId, JournalStore, monthOf, OrgId, RunId, type RunUsage, Timestamp, UsageStore } from "@weft/core"
import { sqlite } from "@weft/sql"
import { stores } from "@weft/sqlite"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { init } from "../../../packages/sql/src/migrations/Init.ts"
import { temporaryFolder } from "./Fresh.ts"

const orgId = OrgId.make("01976a2b-0001-7000-8000-000000000001")
const envId = EnvId.make("01976a2b-0002-7000-8000-000000000001")
const now = Timestamp.make(Date.UTC(2026, 4, 20))
const lastMonth = Date.UTC(2026, 3, 30)

const runId = (n: number) => RunId.make(`01976a2b-0008-7000-8000-${String(n).padStart(12, "0")}`)

interface OldRun {
  readonly n: number
  readonly start: number
  readonly status: string
  readonly result: string | null
  readonly logs: string | null
}

/** A database as the first version left it. */
const oldDatabase = (file: string, runs: ReadonlyArray<OldRun>): void => {
  const db = new DatabaseSync(file)
  for (const statement of init(sqlite)) db.exec(statement)
  db.exec(`CREATE TABLE weft_migrations (
    migration_id integer PRIMARY KEY NOT NULL, created_at datetime NOT NULL DEFAULT current_timestamp,
    name VARCHAR(255) NOT NULL)`)
  db.exec("INSERT INTO weft_migrations (migration_id, name) VALUES (1, 'init')")
  db.prepare("INSERT INTO orgs VALUES (?, 'acme', 'Acme', 'Free', 1, 0, 0)").run(orgId)
  db.prepare("INSERT INTO envs VALUES (?, ?, 'production', 1, 0)").run(envId, orgId)
  const insert = db.prepare(`INSERT INTO runs (env_id, run_id, stream_id, project_id, project_name, build_id, ns, var,
    run_type, status, start_time, attempt, node_id, result, logs)
    VALUES (?, ?, 's', 'p', 'shop', 'b', 'main', 'fn', 'event', ?, ?, 1, 'n', ?, ?)`)
  const count = db.prepare(`INSERT INTO run_counts VALUES (?, 'p', 'shop', 'event', ?, 1)
    ON CONFLICT DO UPDATE SET n = n + 1`)
  for (const { n, start, status, result, logs } of runs) {
    insert.run(envId, runId(n), status, start, result, logs)
    if (status !== "running") count.run(envId, status)
  }
  db.close()
}

const usageOf = (file: string, purgeBelow: RunId | null = null): Effect.Effect<RunUsage, unknown> =>
  Effect.gen(function* () {
    if (purgeBelow !== null) yield* JournalStore.use((journal) => journal.purge(envId, purgeBelow, 100))
    return yield* UsageStore.use((usage) => usage.runs(orgId, monthOf(now)))
  }).pipe(Effect.provide(stores({ file })))

describe("a database without counts of usage", () => {
  it.effect("has them, of what is stored, from then on", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const file = join(yield* temporaryFolder, "weft.db")
      oldDatabase(file, [
        { n: 1, start: lastMonth, status: "succeeded", result: '"é𝄞"', logs: null },
        { n: 2, start: now - 5, status: "succeeded", result: "null", logs: "[{}]" },
        { n: 3, start: now - 4, status: "failed", result: "12345", logs: null },
        { n: 4, start: now - 3, status: "running", result: null, logs: null }
      ])
      const bytes = 8 + 8 + 5
      assert.deepStrictEqual(yield* usageOf(file), { runs_this_period: 3, call_count: 4, call_storage_bytes: bytes })
      assert.deepStrictEqual(yield* usageOf(file, runId(3)), {
        runs_this_period: 3,
        call_count: 2,
        call_storage_bytes: 5
      })
    }).pipe(Effect.scoped)
  )
})
