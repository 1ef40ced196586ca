/**
 * Which tick of a due schedule fires, and which comes next. Pure.
 *
 * Ticks that were missed fire once, as the latest of them. After a time in which no node ran, only if that one is
 * less than an hour old (decisions 5.4). Ticks that waited for the plan to allow them are not forgotten so.
 */
import { readTicks } from "../builds/Ticks.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import type { Schedule } from "./Schedule.ts"

/** How old a tick may be that nobody was there to fire, in milliseconds. */
const missedMaxMs = 3_600_000

export interface DueTick {
  /** The tick to fire, as `scheduled_time`; null when it was missed for good. */
  readonly fires: Timestamp | null
  /** The first tick after `now`; null when there is none. */
  readonly next_at: Timestamp | null
}

/** For a schedule with `next_at` and `due_at` at `now` or before. */
export const dueTick = (
  { cron, timezone, next_at, due_at }: Pick<Schedule, "cron" | "timezone" | "next_at" | "due_at">,
  now: Timestamp
): DueTick => {
  const next = cron === null ? () => null : readTicks(cron, timezone)
  const latest = latestTick(next, next_at, now)
  // Had a node been there, it would have looked at the schedule when it was due.
  const isMissed = now - due_at >= missedMaxMs && now - latest >= missedMaxMs
  return { fires: isMissed ? null : latest, next_at: next(now) }
}

/** The latest tick up to `now`, given one; of a year of ticks every second it looks at a few dozen. */
const latestTick = (next: (after: Timestamp) => Timestamp | null, known: Timestamp, now: Timestamp): Timestamp => {
  const first = upTo(next(known), now)
  if (first === null) return known
  let latest = first
  // No tick lies after `end`.
  let end: number = now
  while (latest < end) {
    const middle = Math.floor((latest + end) / 2)
    const tick = upTo(next(Timestamp.make(middle)), now)
    if (tick === null) end = middle
    else latest = tick
  }
  return latest
}

const upTo = (tick: Timestamp | null, now: Timestamp): Timestamp | null => (tick !== null && tick <= now ? tick : null)
