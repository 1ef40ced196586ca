/** The next ticks of schedules, for calendars. Pure. */
import { readTicks } from "../../foundation/time/Ticks.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Schedule } from "./Schedule.ts"

/** Maximum ticks of one schedule. A schedule with more is frequent: its expression says more than its ticks. */
const ticksMax = 50

export interface UpcomingTicks extends Schedule {
  /** Ticks until the end of the period, ascending, at most 50. */
  readonly ticks: ReadonlyArray<Timestamp>
  /** True if the schedule has further ticks in the period. */
  readonly more: boolean
}

/** Returns the schedule with its ticks until `until`. The first one is `next_at`. */
export const upcomingTicks = (schedule: Schedule, until: Timestamp): UpcomingTicks => {
  const { cron, timezone, next_at } = schedule
  const next = cron === null ? () => null : readTicks(cron, timezone)
  const ticks: Array<Timestamp> = []
  let tick: Timestamp | null = next_at
  while (tick !== null && tick <= until && ticks.length < ticksMax) {
    ticks.push(tick)
    tick = next(tick)
  }
  return { ...schedule, ticks, more: tick !== null && tick <= until }
}
