/** Cron expressions and time zones as authors write them. */
import { CronExpressionParser } from "cron-parser"

/** Any fixed instant will do: whether an expression can fire does not depend on it within a leap cycle. */
const anchor = "2024-01-01T00:00:00Z"

/**
 * What is wrong with an expression of five fields, or six with seconds first; null when nothing is. No time zone
 * makes a difference: what matters is what a wall can show, and the parser fails where clocks change by half an hour.
 */
export const cronFault = (expression: string): string | null => {
  const fields = expression.trim().split(/\s+/)
  if (fields.length < 5 || fields.length > 6) return "must have five fields, or six with seconds first"
  // The parser would draw a random value for each at every reading. Of all names only that of Thursday has one.
  if (fields.some((field) => /h/i.test(field.replace(/thu/gi, "")))) return "must not use H"
  try {
    return CronExpressionParser.parse(expression, { tz: "UTC", currentDate: anchor }).hasNext() ? null : "never fires"
  } catch {
    return "is not a cron expression that can fire"
  }
}

/** Whether this is the name of a time zone, as IANA lists them. */
export const isTimezone = (name: string): boolean => {
  try {
    return name !== "" && new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== ""
  } catch {
    return false
  }
}
