/** Cron expressions and time zones as authors write them. */
import { CronExpressionParser } from "cron-parser"

/** Start of the search for a tick. Any fixed instant works: the answer is the same within a leap cycle. */
const anchor = "2024-01-01T00:00:00Z"

/**
 * Returns the fault of an expression of five fields, or six with seconds first; null if it is valid. The check uses UTC,
 * because validity depends only on wall-clock times, and the parser fails in zones whose clocks change by half an hour.
 */
export const cronFault = (expression: string): string | null => {
  const fields = expression.trim().split(/\s+/)
  if (fields.length < 5 || fields.length > 6) return "must have five fields, or six with seconds first"
  // The parser would draw a new random value for each H whenever it parses. Of all names only "Thu" contains an H.
  if (fields.some((field) => /h/i.test(field.replace(/thu/gi, "")))) return "must not use H"
  try {
    return CronExpressionParser.parse(expression, { tz: "UTC", currentDate: anchor }).hasNext() ? null : "never fires"
  } catch {
    return "is not a cron expression that can fire"
  }
}

/** True if `name` is an IANA time zone. */
export const isTimezone = (name: string): boolean => {
  try {
    return name !== "" && new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== ""
  } catch {
    return false
  }
}
