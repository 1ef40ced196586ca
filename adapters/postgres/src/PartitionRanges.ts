/** Which stretches of time have partitions, and which are to get some. Pure; instants are milliseconds since 1970. */
import { Duration } from "effect"

/** From `from` on, and before `to`. */
export interface Range {
  readonly from: number
  readonly to: number
}

const dayMs = Duration.toMillis(Duration.days(1))

/** The last instant whose day has a name of four digits for its year. */
const lastInstant = Date.UTC(9999, 11, 31)

/** Clocks of other nodes may be behind. */
const behindDays = 1

/** For how long partitions are there, though nobody looks after them. */
const aheadDays = 14

/** The time for which partitions should be there: a little before `now` to two of their lengths after it, or more. */
export const needed = (now: number, days: number): Range => ({
  from: Math.max(0, now - behindDays * dayMs),
  to: Math.min(lastInstant, Math.max(0, now) + Math.max(aheadDays, 2 * days) * dayMs)
})

/**
 * What is to be added to `existing`, which do not overlap, so that they cover `range`: ascending, `days` long and
 * beginning at multiples of that, but for what is cut off by others of another length. They begin and end with a day
 * of UTC if the existing ones do.
 */
export const missing = (existing: ReadonlyArray<Range>, range: Range, days: number): ReadonlyArray<Range> => {
  const length = days * dayMs
  const ranges: Array<Range> = []
  for (let cell = Math.floor(range.from / length) * length; cell < range.to; cell += length) {
    ranges.push(...without({ from: cell, to: cell + length }, existing))
  }
  return ranges.filter(({ from, to }) => to > range.from && from < range.to)
}

/** What is left of `range` where none of the others are. */
const without = (range: Range, others: ReadonlyArray<Range>): ReadonlyArray<Range> => {
  const left: Array<Range> = []
  let from = range.from
  for (const other of [...others].sort((a, b) => a.from - b.from)) {
    if (other.to <= from || other.from >= range.to) continue
    if (other.from > from) left.push({ from, to: other.from })
    from = other.to
  }
  if (from < range.to) left.push({ from, to: range.to })
  return left
}
