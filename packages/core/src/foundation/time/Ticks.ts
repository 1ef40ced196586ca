/**
 * The ticks of a cron expression in its time zone.
 *
 * cron-parser parses the expression and walks the calendar, always in UTC. Its results are wall-clock times. Around
 * clock changes they are converted to instants by the rules of Vixie cron:
 *
 * - An expression for one time of day (`30 2 * * *`) fires once a day. If that time is skipped, it fires at the first
 *   instant after the gap. If that time occurs twice, it fires the first time.
 * - Every other expression has a step, a list, a range or `*` in its hours, minutes or seconds. It fires at every
 *   matching wall-clock time: never in a gap, and twice in an hour that occurs twice.
 */
import { type CronExpression, CronExpressionParser } from "cron-parser"
import { Timestamp } from "./Timestamp.ts"

const hour = 3_600_000
const day = 24 * hour

/** Returns the first instant after `after` at which the expression fires; null if it never fires again. */
export type NextTick = (after: Timestamp) => Timestamp | null

/** Parses a valid expression (see `cronFault`) once, for all its ticks. */
export const readTicks = (expression: string, timezone: string): NextTick => {
  const cron = CronExpressionParser.parse(expression, { tz: "UTC" })
  const offsetAt = offsets(timezone)
  const next = isOneTime(cron) ? nextDaily : nextMatching
  return (after) => {
    const tick = next(cron, offsetAt, after)
    return tick === null ? null : Timestamp.make(tick)
  }
}

/** Returns the milliseconds that wall-clock time is ahead of UTC at an instant. */
type OffsetAt = (instant: number) => number

const isOneTime = ({ fields: { second, minute, hour } }: CronExpression): boolean =>
  [second, minute, hour].every((field) => field.values.length === 1)

/** Returns the first matching wall-clock time after `wall`. */
const nextWall = (cron: CronExpression, wall: number): number | null => {
  cron.reset(new Date(wall))
  return cron.hasNext() ? cron.next().getTime() : null
}

const nextDaily = (cron: CronExpression, offsetAt: OffsetAt, after: number): number | null => {
  const offset = offsetAt(after)
  // A skipped time is earlier than the wall-clock time of its tick, so step back if clocks may have skipped times.
  const back = offsetAt(after - day) === offset ? 0 : day
  let wall = nextWall(cron, after + offset - back)
  while (wall !== null) {
    const tick = toInstant(wall, offsetAt)
    if (tick > after) return tick
    wall = nextWall(cron, wall)
  }
  return null
}

/** Returns the first instant with this wall-clock time; if it is skipped, the first instant after the gap. */
const toInstant = (wall: number, offsetAt: OffsetAt): number => {
  // The larger offset is the earlier instant.
  const before = offsetAt(wall - day)
  const later = offsetAt(wall + day)
  for (const offset of [Math.max(before, later), Math.min(before, later)]) {
    if (offsetAt(wall - offset) === offset) return wall - offset
  }
  return changeBetween(wall - day, wall + day, offsetAt)
}

/** Walks the intervals in which the offset stays the same. */
const nextMatching = (cron: CronExpression, offsetAt: OffsetAt, after: number): number | null => {
  let from = after + 1
  for (;;) {
    const offset = offsetAt(from)
    const wall = nextWall(cron, from + offset - 1)
    if (wall === null) return null
    const tick = wall - offset
    if (tick - from > 2 * day) {
      // Far off: nothing matches until a day before it, unless a repeated hour is near.
      const soon = from + day
      from = offsetAt(soon) === offset ? tick - 2 * day + hour : changeBetween(from, soon, offsetAt)
    } else if (offsetAt(tick) === offset) {
      return tick
    } else {
      from = changeBetween(from, tick, offsetAt)
    }
  }
}

/** Returns the first instant in (`from`, `to`] whose offset differs from that of `from`. At most one change is between. */
const changeBetween = (from: number, to: number, offsetAt: OffsetAt): number => {
  const offset = offsetAt(from)
  let low = from
  let high = to
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === offset) low = middle
    else high = middle
  }
  return high
}

/** Formatters by zone: creating one costs a hundred times as much as using it. */
const formatters = new Map<string, Intl.DateTimeFormat>()

const offsets = (timezone: string): OffsetAt => {
  if (timezone === "UTC") return () => 0
  let formatter = formatters.get(timezone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      era: "short"
    })
    formatters.set(timezone, formatter)
  }
  const format = formatter
  return (instant) => {
    const parts: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value)
    const { year = 0, month = 1, day: date = 1, hour: hours = 0, minute = 0, second = 0 } = parts
    const wall = Date.UTC(year, month - 1, date, hours, minute, second)
    return wall - Math.floor(instant / 1000) * 1000
  }
}
