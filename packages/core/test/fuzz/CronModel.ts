/** What a cron expression means, field by field, for those who have time to look at every minute. */

/** By the instant's own fields in UTC. */
export interface CronModel {
  readonly seconds: ReadonlyArray<number>
  /** Whether it fires within this minute, at its `seconds`. */
  readonly matches: (minute: Date) => boolean
}

interface Field {
  readonly values: ReadonlySet<number>
  readonly isAny: boolean
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

/** Null for what the model does not know: the last day, the nearest weekday, the second Friday. */
export const cronModel = (expression: string): CronModel | null => {
  const texts = expression.trim().split(/\s+/)
  const [second, minute, hour, date, month, day] = texts.length === 5 ? ["0", ...texts] : texts
  if (day === undefined || texts.length > 6) return null
  const fields = [
    fieldOf(second, 0, 59, []),
    fieldOf(minute, 0, 59, []),
    fieldOf(hour, 0, 23, []),
    fieldOf(date, 1, 31, []),
    fieldOf(
      month,
      1,
      12,
      months.map((name, index) => [name, index + 1])
    ),
    fieldOf(
      day,
      0,
      7,
      days.map((name, index) => [name, index])
    )
  ]
  const [seconds, minutes, hours, dates, monthsOf, weekdays] = fields
  if (seconds == null || minutes == null || hours == null || dates == null || monthsOf == null || weekdays == null)
    return null
  return {
    seconds: [...seconds.values].sort((a, b) => a - b),
    matches: (at) => {
      const isDate = dates.values.has(at.getUTCDate())
      const isDay = weekdays.values.has(at.getUTCDay()) || (at.getUTCDay() === 0 && weekdays.values.has(7))
      // Where both are given, one of them will do.
      const isWanted = dates.isAny || weekdays.isAny ? isDate && isDay : isDate || isDay
      const isTime = minutes.values.has(at.getUTCMinutes()) && hours.values.has(at.getUTCHours())
      return isTime && monthsOf.values.has(at.getUTCMonth() + 1) && isWanted
    }
  }
}

const fieldOf = (
  text: string | undefined,
  least: number,
  most: number,
  names: ReadonlyArray<readonly [string, number]>
): Field | null => {
  const values = new Set<number>()
  const numberOf = (word: string): number =>
    names.find(([name]) => name === word)?.[1] ?? (/^\d{1,2}$/.test(word) ? Number(word) : Number.NaN)
  for (const part of (text ?? "").toLowerCase().split(",")) {
    const [, range = "", step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? []
    const [first = "", last, ...more] =
      range === "*" || range === "?" ? [String(least), String(most)] : range.split("-")
    const from = numberOf(first)
    const to = last === undefined ? (step === undefined ? from : most) : numberOf(last)
    if (more.length > 0 || !(from >= least && from <= to && to <= most) || Number(step ?? 1) === 0) return null
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value)
  }
  return { values, isAny: text === "*" || text === "?" }
}
