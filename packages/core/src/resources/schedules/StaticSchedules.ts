/**
 * Static schedules of a project after a deployment. Pure.
 *
 * A schedule with the same function, cron expression and time zone as before keeps its id and next tick. Therefore a
 * deployment neither loses a tick nor fires one twice.
 */
import { readTicks } from "../../foundation/time/Ticks.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Build } from "../builds/Build.ts"
import type { Manifest, ScheduleEntry } from "../builds/Manifest.ts"
import type { Schedule } from "./Schedule.ts"

export interface MergedSchedules {
  /** Manifest with the ids of the kept schedules. */
  readonly manifest: Manifest
  /** All static schedules of the project after the deployment. */
  readonly schedules: ReadonlyArray<Schedule>
}

/** Returns the schedules of the new manifest. `stored` are the project's static schedules before the deployment. */
export const mergeStaticSchedules = (
  stored: ReadonlyArray<Schedule>,
  { env_id, project_id }: Pick<Build, "env_id" | "project_id">,
  manifest: Manifest,
  now: Timestamp
): MergedSchedules => {
  const known = Map.groupBy(stored, toKey)
  const schedules: Array<Schedule> = []
  const entries = manifest.schedules.map((entry): ScheduleEntry => {
    const schedule = known.get(toKey(entry))?.shift() ?? newSchedule(entry, { env_id, project_id }, now)
    if (schedule === null) return entry
    schedules.push(schedule)
    return { ...entry, schedule_id: schedule.schedule_id }
  })
  return { manifest: { ...manifest, schedules: entries }, schedules }
}

/** Returns a new schedule, or null if it never fires. */
const newSchedule = (
  { schedule_id, ns, var: name, cron, timezone }: ScheduleEntry,
  of: Pick<Schedule, "env_id" | "project_id">,
  now: Timestamp
): Schedule | null => {
  const next_at = readTicks(cron, timezone)(now)
  if (next_at === null) return null
  const timing = { cron, timezone, next_at, due_at: next_at, created_at: now, depth: 0 }
  return { schedule_id, ...of, kind: "static", ns, var: name, args: null, ...timing }
}

const toKey = ({ ns, var: name, cron, timezone }: Pick<Schedule, "ns" | "var" | "cron" | "timezone">): string =>
  JSON.stringify([ns, name, cron, timezone])
