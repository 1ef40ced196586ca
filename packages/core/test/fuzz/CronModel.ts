/** A slow reference model of cron expressions, which checks every minute field by field. */

/** Matches by the fields of an instant in UTC. */
export interface CronModel {
  readonly seconds: ReadonlyArray<number>
  /** Returns true if the expression fires within this minute, at its `seconds`. */
  readonly matches: (minute: Date) => boolean
}

interface Field {
  readonly values: ReadonlySet<number>
  readonly isAny: boolean
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

/** Returns null for features that the model does not support: last day, nearest weekday, nth weekday. */
export const cronModel = (expression: string): CronModel | null => {
  const texts = expression.trim().split(/\s+/)
  const [second, minute, hour, date, month, day] = texts.length === 5 ? ["0", ...texts] : texts
  if (day === undefined || texts.length > 6) return null
  const fields = [
    parseField(second, 0, 59, []),
    parseField(minute, 0, 59, []),
    parseField(hour, 0, 23, []),
    parseField(date, 1, 31, []),
    parseField(
      month,
      1,
      12,
      months.map((name, index) => [name, index + 1])
    ),
    parseField(
      day,
      0,
      7,
      days.map((name, index) => [name, index])
    )
  ]
  const [seconds, minutes, hours, dates, monthField, weekdays] = fields
  if (seconds == null || minutes == null || hours == null || dates == null || monthField == null || weekdays == null)
    return null
  return {
    seconds: [...seconds.values].sort((a, b) => a - b),
    matches: (at) => {
      const isDate = dates.values.has(at.getUTCDate())
      const isDay = weekdays.values.has(at.getUTCDay()) || (at.getUTCDay() === 0 && weekdays.values.has(7))
      // If both fields are restricted, either may match.
      const isWanted = dates.isAny || weekdays.isAny ? isDate && isDay : isDate || isDay
      const isTime = minutes.values.has(at.getUTCMinutes()) && hours.values.has(at.getUTCHours())
      return isTime && monthField.values.has(at.getUTCMonth() + 1) && isWanted
    }
  }
}

const parseField = (
  text: string | undefined,
  least: number,
  most: number,
  names: ReadonlyArray<readonly [string, number]>
): Field | null => {
  const values = new Set<number>()
  const parseNumber = (word: string): number =>
    names.find(([name]) => name === word)?.[1] ?? (/^\d{1,2}$/.test(word) ? Number(word) : Number.NaN)
  for (const part of (text ?? "").toLowerCase().split(",")) {
    const [, range = "", step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? []
    const [first = "", last, ...more] =
      range === "*" || range === "?" ? [String(least), String(most)] : range.split("-")
    const from = parseNumber(first)
    const to = last === undefined ? (step === undefined ? from : most) : parseNumber(last)
    if (more.length > 0 || !(from >= least && from <= to && to <= most) || Number(step ?? 1) === 0) return null
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value)
  }
  return { values, isAny: text === "*" || text === "?" }
}
