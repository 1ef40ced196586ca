/** Time ranges of partitions. Pure functions; instants are milliseconds since 1970. */
import { Duration } from "effect"

/** A half-open range: `from` inclusive, `to` exclusive. */
export interface Range {
  readonly from: number
  readonly to: number
}

const dayMs = Duration.toMillis(Duration.days(1))

/** The last instant whose year has four digits, as partition names require. */
const lastInstant = Date.UTC(9999, 11, 31)

/** Days before now with partitions, because clocks of other nodes may be behind. */
const behindDays = 1

/** Minimum days after now with partitions, in case no node creates further ones. */
const aheadDays = 14

/** Returns the range that partitions must cover: from a day before `now` to at least two partition lengths after it. */
export const requiredRange = (now: number, days: number): Range => ({
  from: Math.max(0, now - behindDays * dayMs),
  to: Math.min(lastInstant, Math.max(0, now) + Math.max(aheadDays, 2 * days) * dayMs)
})

/**
 * Returns the ranges to add so that `existing`, which do not overlap, cover `range`. They are ascending, and begin and
 * end at multiples of `days`, except next to existing partitions of another length. They consist of whole UTC days if
 * the existing ones do.
 */
export const missingRanges = (existing: ReadonlyArray<Range>, range: Range, days: number): ReadonlyArray<Range> => {
  const length = days * dayMs
  const ranges: Array<Range> = []
  for (let cell = Math.floor(range.from / length) * length; cell < range.to; cell += length) {
    ranges.push(...subtract({ from: cell, to: cell + length }, existing))
  }
  return ranges.filter(({ from, to }) => to > range.from && from < range.to)
}

/** Returns the parts of `range` that no other range covers. */
const subtract = (range: Range, others: ReadonlyArray<Range>): ReadonlyArray<Range> => {
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
