/** Schedules of builds that were deployed in a release without schedules. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import { ProjectId, ScheduleId, ScheduleStore, Timestamp } from "@weft/core/adapter"
import { Database, migrateTo, sqlite } from "@weft/sql"
import { database } from "@weft/sqlite"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { open } from "../src/SqliteClient.ts"
import { temporaryFolder } from "./Fresh.ts"

const env_id = EnvId.make("01976a2b-0002-7000-8000-000000000001")
const project_id = ProjectId.make("01976a2b-0004-7000-8000-000000000001")
const schedule_id = ScheduleId.make("01976a2b-0011-7000-8000-000000000001")
const now = Timestamp.make(Date.UTC(2026, 4, 20, 10))

/** A database at migration 8, with a deployed build that has a schedule. */
const oldDatabase = (file: string) =>
  Effect.gen(function* () {
    const writer = yield* open({ file, synchronous: "normal", readonly: false })
    yield* Effect.provideService(migrateTo(8), Database, { dialect: sqlite, writer, reader: writer, exclusive: true })
    const retry = { attempts: 1, delay_ms: 1000, backoff: 2, max_delay_ms: 3_600_000, jitter: true }
    const schedule = {
      schedule_id,
      ns: "main",
      var: "nightly",
      cron: "0 3 * * *",
      timezone: "Europe/Oslo",
      retry,
      timeout_ms: 1
    }
    const manifest = JSON.stringify({ functions: [], handlers: [], schedules: [schedule], endpoints: [], tools: [] })
    yield* writer`INSERT INTO deployments ${writer.insert({ project_id, env_id, build_id: "b", manifest })}`
  }).pipe(Effect.scoped)

const due = (file: string) =>
  Effect.provide(
    ScheduleStore.use((store) => store.due(Timestamp.make(now + 86_400_000), 10)),
    database({ file })
  )

describe("a database migrated from a release without schedules", () => {
  it.effect("has the schedules of its deployed builds, from their next tick on", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const file = join(yield* temporaryFolder, "weft.db")
      yield* oldDatabase(file)
      const next_at = Timestamp.make(Date.UTC(2026, 4, 21, 1))
      const [found, ...others] = yield* due(file)
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(
        { ...found },
        {
          ...{ schedule_id, env_id, project_id, kind: "static", ns: "main", var: "nightly", args: null, depth: 0 },
          ...{ cron: "0 3 * * *", timezone: "Europe/Oslo", next_at, due_at: next_at, created_at: now }
        }
      )
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* due(file), found === undefined ? [] : [found])
    }).pipe(Effect.scoped)
  )
})
