/**
 * When a cron expression fires, in its time zone.
 *
 * cron-parser reads the expression and walks the calendar, always as if in UTC: what it gives is the time on the
 * wall. From there to instants the rule is that of cron since Vixie, where clocks change:
 *
 * - An expression for one time of the day (`30 2 * * *`) fires once a day. A time that is skipped counts as the
 *   first instant after the gap; one that comes twice counts the first time.
 * - Every other expression (with a step, a list, a range or `*` in hours, minutes or seconds) fires whenever the
 *   wall shows a matching time: not in a gap, and twice in an hour that comes twice.
 */
import { type CronExpression, CronExpressionParser } from "cron-parser"
import { Timestamp } from "../ids/Timestamp.ts"

const hour = 3_600_000
const day = 24 * hour

/** The first instant after `after` at which the expression fires; null when it never does again. */
export type NextTick = (after: Timestamp) => Timestamp | null

/** Reads a valid expression (see `cronFault`), once for all its ticks. */
export const readTicks = (expression: string, timezone: string): NextTick => {
  const walls = CronExpressionParser.parse(expression, { tz: "UTC" })
  const offsetAt = offsets(timezone)
  const next = isOneTime(walls) ? onceADay : wheneverShown
  return (after) => {
    const tick = next(walls, offsetAt, after)
    return tick === null ? null : Timestamp.make(tick)
  }
}

/** Milliseconds that the wall is ahead of UTC at an instant. */
type OffsetAt = (instant: number) => number

const isOneTime = ({ fields: { second, minute, hour } }: CronExpression): boolean =>
  [second, minute, hour].every((field) => field.values.length === 1)

/** The first time on the wall after `wall`. */
const nextWall = (walls: CronExpression, wall: number): number | null => {
  walls.reset(new Date(wall))
  return walls.hasNext() ? walls.next().getTime() : null
}

const onceADay = (walls: CronExpression, offsetAt: OffsetAt, after: number): number | null => {
  const offset = offsetAt(after)
  // A skipped time lies before the wall of its tick, hence the step back where clocks may have skipped some.
  const back = offsetAt(after - day) === offset ? 0 : day
  let wall = nextWall(walls, after + offset - back)
  while (wall !== null) {
    const tick = instantOf(wall, offsetAt)
    if (tick > after) return tick
    wall = nextWall(walls, wall)
  }
  return null
}

/** The first instant at which the wall shows this time; if it never does, the first one after the gap. */
const instantOf = (wall: number, offsetAt: OffsetAt): number => {
  // The larger offset is the earlier instant.
  const before = offsetAt(wall - day)
  const later = offsetAt(wall + day)
  for (const offset of [Math.max(before, later), Math.min(before, later)]) {
    if (offsetAt(wall - offset) === offset) return wall - offset
  }
  return changeBetween(wall - day, wall + day, offsetAt)
}

/** Walks the pieces of time in which the offset stays the same. */
const wheneverShown = (walls: CronExpression, offsetAt: OffsetAt, after: number): number | null => {
  let from = after + 1
  for (;;) {
    const offset = offsetAt(from)
    const wall = nextWall(walls, from + offset - 1)
    if (wall === null) return null
    const tick = wall - offset
    if (tick - from > 2 * day) {
      // Far off: until a day before it nothing matches, unless times come twice soon.
      const soon = from + day
      from = offsetAt(soon) === offset ? tick - 2 * day + hour : changeBetween(from, soon, offsetAt)
    } else if (offsetAt(tick) === offset) {
      return tick
    } else {
      from = changeBetween(from, tick, offsetAt)
    }
  }
}

/** The first instant after `from`, up to `to`, whose offset is not that of `from`. One change at most lies between. */
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

/** Formatters by zone: making one costs a hundred times as much as asking it. */
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
