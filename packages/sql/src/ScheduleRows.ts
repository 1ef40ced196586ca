/** Writes schedules in the transaction of the deployment or event that changes them. */
import {
  type Build,
  type Manifest,
  mergeStaticSchedules,
  type Schedule,
  type ScheduleChange,
  type ScheduleRefusal,
  type Timestamp
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type Database, readCount } from "./Database.ts"

/** Replaces the static schedules of the build's project with those of `manifest`. Returns the manifest with their ids. */
export const replaceStatic = Effect.fnUntraced(function* (
  { writer }: Database["Service"],
  build: Pick<Build, "env_id" | "project_id">,
  manifest: Manifest,
  now: Timestamp
): Effect.fn.Return<Manifest, SqlError.SqlError> {
  // Read by the DELETE, so that a concurrent tick either commits before it or finds no schedule.
  const stored = yield* writer<Schedule>`
    DELETE FROM schedules WHERE project_id = ${build.project_id} AND kind = 'static' RETURNING *`
  const served = mergeStaticSchedules(stored, build, manifest, now)
  for (const schedule of served.schedules) yield* writer`INSERT INTO schedules ${writer.insert(schedule)}`
  return served.manifest
})

/** Applies the change, or returns the reason of a refusal. */
export const changeSchedules = Effect.fnUntraced(function* (
  { dialect, writer }: Database["Service"],
  change: ScheduleChange
): Effect.fn.Return<ScheduleRefusal | null, SqlError.SqlError> {
  if (change._tag === "Created") {
    const { schedule, max } = change
    // Serializes inserts, so that two concurrent ones cannot both take the last place.
    yield* dialect.advisoryLock(writer, [`schedules ${schedule.env_id}`])
    const dynamic = yield* readCount(
      writer<{ n: number }>`
        SELECT count(*) AS n FROM schedules WHERE env_id = ${schedule.env_id} AND kind = 'dynamic'`
    )
    if (dynamic >= max) return "too many"
    yield* writer`INSERT INTO schedules ${writer.insert(schedule)}`
    return null
  }
  const { env_id, by } = change
  const which =
    "schedule_id" in by
      ? writer`schedule_id = ${by.schedule_id}`
      : writer`project_id = ${by.project_id} AND ns = ${by.ns} AND var = ${by.var}`
  const cancelled = yield* writer`
    DELETE FROM schedules WHERE env_id = ${env_id} AND kind = 'dynamic' AND ${which}`.raw
  return dialect.changes(cancelled) === 0 ? "none" : null
})
