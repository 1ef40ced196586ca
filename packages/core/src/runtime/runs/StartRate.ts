/**
 * A limit of starts within any period, exact: no interval of that length contains more. Pure.
 *
 * It keeps the time of each of the latest starts, because a counter per interval would admit twice as many at its border.
 */
import { addMillis, type Timestamp } from "../../foundation/time/Timestamp.ts"

export interface StartRate {
  /** Maximum starts within a period. */
  readonly limit: number
  readonly period_ms: number
}

/** Times of the latest starts, ascending, at most `limit`. */
export type Starts = ReadonlyArray<Timestamp>

/** Returns the time of a start that happens now. Clocks of nodes differ, but a start is never before an earlier one. */
export const currentStart = (starts: Starts, now: Timestamp): Timestamp => latest(now, starts.at(-1) ?? now)

/** Returns the time of the next start that the rate allows, from `now`. */
export const nextStart = ({ limit, period_ms }: StartRate, starts: Starts, now: Timestamp): Timestamp => {
  // With fewer starts than the limit, none has to be a period ago.
  const oldest = starts.length < limit ? undefined : starts.at(-limit)
  const current = currentStart(starts, now)
  return oldest === undefined ? current : latest(current, addMillis(oldest, period_ms))
}

/** Adds a start, and drops those that no longer count. */
export const addStart = ({ limit }: StartRate, starts: Starts, at: Timestamp): Starts => [...starts, at].slice(-limit)

const latest = (a: Timestamp, b: Timestamp): Timestamp => (a > b ? a : b)
