/** Durations as authors write them (decisions 5.1). */

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const short = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/
const shortUnits: Readonly<Record<string, number>> = { ms: 1, s: second, m: minute, h: hour, d: day }

// At least one part, and at least one after the T.
const iso =
  /^P(?=.)(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?=.)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/
const isoUnits = [365 * day, 30 * day, 7 * day, day, hour, minute, second]

/**
 * Parses a duration to milliseconds, at least 0, or returns null. Accepts `"500ms"`, `"1s"`, `"1m"`, `"1h"`,
 * `"1d"`, ISO 8601 durations (a year counts as 365 days, a month as 30) and a number of milliseconds.
 */
export const parseDuration = (input: unknown): number | null => {
  if (typeof input === "number") return isMillis(input) ? input : null
  if (typeof input !== "string") return null
  const millis = shortMillis(input) ?? isoMillis(input)
  return millis !== null && isMillis(millis) ? millis : null
}

const isMillis = (value: number): boolean => value >= 0 && value <= Number.MAX_SAFE_INTEGER

const shortMillis = (text: string): number | null => {
  const [, amount, unit] = short.exec(text) ?? []
  const size = unit === undefined ? undefined : shortUnits[unit]
  return amount === undefined || size === undefined ? null : Number(amount) * size
}

const isoMillis = (text: string): number | null => {
  const parts = iso.exec(text)
  return parts === null ? null : isoUnits.reduce((sum, size, index) => sum + size * Number(parts[index + 1] ?? 0), 0)
}
