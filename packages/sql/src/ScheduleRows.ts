/** Writing schedules in the transaction of whoever changes what they come from: a deployment, or an event. */
import {
  type Build,
  type Manifest,
  redeployed,
  type Schedule,
  type ScheduleChange,
  type ScheduleRefusal,
  type Timestamp
} from "@weft/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { countOf, type Database } from "./Database.ts"

/** Makes the static schedules of the build's project those of `manifest`; the manifest to store, with their ids. */
export const replaceStatic = Effect.fnUntraced(function* (
  { writer }: Database["Service"],
  build: Pick<Build, "env_id" | "project_id">,
  manifest: Manifest,
  now: Timestamp
): Effect.fn.Return<Manifest, SqlError.SqlError> {
  // Read by who deletes them, so that a tick which is being fired is over before or finds nothing to fire.
  const stored = yield* writer<Schedule>`
    DELETE FROM schedules WHERE project_id = ${build.project_id} AND kind = 'static' RETURNING *`
  const served = redeployed(stored, build, manifest, now)
  for (const schedule of served.schedules) yield* writer`INSERT INTO schedules ${writer.insert(schedule)}`
  return served.manifest
})

/** Makes the change, or tells why not. */
export const changeSchedules = Effect.fnUntraced(function* (
  { dialect, writer }: Database["Service"],
  change: ScheduleChange
): Effect.fn.Return<ScheduleRefusal | null, SqlError.SqlError> {
  if (change._tag === "Created") {
    const { schedule, max } = change
    // Of two that are made at once not both can be the last.
    yield* dialect.hold(writer, [`schedules ${schedule.env_id}`])
    const dynamic = yield* countOf(
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
