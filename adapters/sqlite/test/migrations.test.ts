/** Migrations of databases of earlier releases with their rows. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { EnvId, OrgId } from "@weft/core"
import { JournalStore, monthOf, RunId, type RunUsage, Timestamp, UsageStore } from "@weft/core/adapter"
import { Database, migrateTo, sqlite } from "@weft/sql"
import { database } from "@weft/sqlite"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { open } from "../src/SqliteClient.ts"
import { temporaryFolder } from "./Fresh.ts"

const orgId = OrgId.make("01976a2b-0001-7000-8000-000000000001")
const envId = EnvId.make("01976a2b-0002-7000-8000-000000000001")
const now = Timestamp.make(Date.UTC(2026, 4, 20))
const lastMonth = Date.UTC(2026, 3, 30)

const runId = (n: number) => RunId.make(`01976a2b-0008-7000-8000-${String(n).padStart(12, "0")}`)

interface OldRun {
  readonly n: number
  readonly start_time: number
  readonly status: string
  readonly result: string | null
  readonly logs: string | null
}

/** A database at the first migration, with these runs. */
const oldDatabase = (file: string, runs: ReadonlyArray<OldRun>) =>
  Effect.gen(function* () {
    const writer = yield* open({ file, synchronous: "normal", readonly: false })
    const database = Database.of({ dialect: sqlite, writer, reader: writer, exclusive: true })
    yield* Effect.provideService(migrateTo(1), Database, database)
    const org = { slug: "acme", name: "Acme", plan: "Free", members: 1, created_at: 0, updated_at: 0 }
    yield* writer`INSERT INTO orgs ${writer.insert({ org_id: orgId, ...org })}`
    const env = { org_id: orgId, name: "production", active: 1, created_at: 0 }
    yield* writer`INSERT INTO envs ${writer.insert({ env_id: envId, ...env })}`
    const ofRun = { stream_id: "s", build_id: "b", ns: "main", var: "fn", attempt: 1, node_id: "n" }
    for (const { n, ...run } of runs) {
      const group = { env_id: envId, project_id: "p", project_name: "shop", run_type: "event", status: run.status }
      yield* writer`INSERT INTO runs ${writer.insert({ run_id: runId(n), ...ofRun, ...group, ...run })}`
      if (run.status === "running") continue
      yield* writer`INSERT INTO run_counts ${writer.insert({ ...group, n: 1 })} ON CONFLICT DO UPDATE SET n = n + 1`
    }
  }).pipe(Effect.scoped)

const readUsage = (file: string, purgeBelow: RunId | null = null): Effect.Effect<RunUsage, unknown> =>
  Effect.gen(function* () {
    if (purgeBelow !== null) yield* JournalStore.use((journal) => journal.purge(envId, purgeBelow, 100))
    return yield* UsageStore.use((usage) => usage.runs(orgId, monthOf(now)))
  }).pipe(Effect.provide(database({ file })))

describe("a database migrated from a release without usage counts", () => {
  it.effect("has the counts of its stored runs", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const file = join(yield* temporaryFolder, "weft.db")
      yield* oldDatabase(file, [
        { n: 1, start_time: lastMonth, status: "succeeded", result: '"é𝄞"', logs: null },
        { n: 2, start_time: now - 5, status: "succeeded", result: "null", logs: "[{}]" },
        { n: 3, start_time: now - 4, status: "failed", result: "12345", logs: null },
        { n: 4, start_time: now - 3, status: "running", result: null, logs: null }
      ])
      const bytes = 8 + 8 + 5
      assert.deepStrictEqual(yield* readUsage(file), { runs_this_period: 3, call_count: 4, call_storage_bytes: bytes })
      assert.deepStrictEqual(yield* readUsage(file, runId(3)), {
        runs_this_period: 3,
        call_count: 2,
        call_storage_bytes: 5
      })
    }).pipe(Effect.scoped)
  )
})
