/** Durations as authors write them, by the rules of the host. */
import { execRegExp, getProperty, isFinite, toNumber } from "./primordials.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const short = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/
// At least one part, and at least one after the T.
const iso =
  /^P(?=.)(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?=.)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/** Parses a duration to milliseconds, or returns null. */
export const parseDuration = (input: unknown): number | null => {
  const ms = typeof input === "number" ? input : typeof input === "string" ? (shortMs(input) ?? isoMs(input)) : null
  return ms !== null && ms >= 0 && isFinite(ms) ? ms : null
}

const shortMs = (text: string): number | null => {
  const parts = execRegExp(short, text)
  if (typeof parts !== "object" || parts === null) return null
  const amount = toNumber(getProperty(parts, 1))
  switch (getProperty(parts, 2)) {
    case "ms":
      return amount
    case "s":
      return amount * second
    case "m":
      return amount * minute
    case "h":
      return amount * hour
    default:
      return amount * day
  }
}

const isoMs = (text: string): number | null => {
  const parts = execRegExp(iso, text)
  if (typeof parts !== "object" || parts === null) return null
  const amount = (index: number): number => {
    const part: unknown = getProperty(parts, index)
    return part === undefined ? 0 : toNumber(part)
  }
  const days = amount(1) * 365 + amount(2) * 30 + amount(3) * 7 + amount(4)
  return days * day + amount(5) * hour + amount(6) * minute + amount(7) * second
}
