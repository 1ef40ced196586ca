/**
 * The schedules of a build that takes over its project's triggers. Pure.
 *
 * A schedule that the build before had too, the same function at the same times, is the same schedule: with its id, and
 * with the tick that is next. So a deployment neither loses a tick nor lets one fire twice.
 */
import type { Build } from "../builds/Build.ts"
import type { Manifest, ScheduleEntry } from "../builds/Manifest.ts"
import { readTicks } from "../builds/Ticks.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { Schedule } from "./Schedule.ts"

export interface Redeployed {
  /** Names its schedules by the ids that they have. */
  readonly manifest: Manifest
  /** All static schedules of the project from now on. */
  readonly schedules: ReadonlyArray<Schedule>
}

/** `stored` are the static schedules that the project has. */
export const redeployed = (
  stored: ReadonlyArray<Schedule>,
  { env_id, project_id }: Pick<Build, "env_id" | "project_id">,
  manifest: Manifest,
  now: Timestamp
): Redeployed => {
  const known = Map.groupBy(stored, identityOf)
  const schedules: Array<Schedule> = []
  const entries = manifest.schedules.map((entry): ScheduleEntry => {
    const kept = known.get(identityOf(entry))?.shift() ?? firstOf(entry, { env_id, project_id }, now)
    if (kept === null) return entry
    schedules.push(kept)
    return { ...entry, schedule_id: kept.schedule_id }
  })
  return { manifest: { ...manifest, schedules: entries }, schedules }
}

/** Null for one that never fires. */
const firstOf = (
  { schedule_id, ns, var: name, cron, timezone }: ScheduleEntry,
  of: Pick<Schedule, "env_id" | "project_id">,
  now: Timestamp
): Schedule | null => {
  const next_at = readTicks(cron, timezone)(now)
  if (next_at === null) return null
  const timing = { cron, timezone, next_at, due_at: next_at, created_at: now }
  return { schedule_id, ...of, kind: "static", ns, var: name, args: null, ...timing }
}

const identityOf = ({ ns, var: name, cron, timezone }: Pick<Schedule, "ns" | "var" | "cron" | "timezone">): string =>
  JSON.stringify([ns, name, cron, timezone])
