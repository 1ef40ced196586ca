/**
 * Selects the tick of a due schedule that fires, and the next one. Pure.
 *
 * Of several missed ticks, only the latest fires. After an outage of all nodes it fires only if it is less than an hour
 * old (decisions 5.4). That limit does not apply to ticks that were deferred by a quota of the plan.
 */
import { readTicks } from "../../foundation/time/Ticks.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Schedule } from "./Schedule.ts"

/** Maximum age of a tick that still fires after an outage of all nodes, in milliseconds. */
const missedMaxMs = 3_600_000

export interface DueTick {
  /** Tick that fires, as `scheduled_time`; null if it is too old. */
  readonly fires: Timestamp | null
  /** First tick after `now`, or null. */
  readonly next_at: Timestamp | null
}

/** Returns the ticks of a schedule whose `next_at` and `due_at` are at most `now`. */
export const dueTick = (
  { cron, timezone, next_at, due_at }: Pick<Schedule, "cron" | "timezone" | "next_at" | "due_at">,
  now: Timestamp
): DueTick => {
  const next = cron === null ? () => null : readTicks(cron, timezone)
  const latest = latestTick(next, next_at, now)
  // A running node handles a schedule at `due_at`, so an old `due_at` means that no node was running.
  const isMissed = now - due_at >= missedMaxMs && now - latest >= missedMaxMs
  return { fires: isMissed ? null : latest, next_at: next(now) }
}

/** Returns the latest tick up to `now` by bisection: for one tick per second in a year, it computes a few dozen. */
const latestTick = (next: (after: Timestamp) => Timestamp | null, known: Timestamp, now: Timestamp): Timestamp => {
  const first = upTo(next(known), now)
  if (first === null) return known
  let latest = first
  // There is no tick after `end`.
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
