/** Instructions of an error of a trusted function about further attempts, by the same rules as in an isolate. */
import { parseDuration } from "../foundation/time/Duration.ts"
import type { RetryHint } from "../platform/sandbox/Outcome.ts"

/** Maximum delay before the next attempt, in milliseconds: 365 days. */
const delayMaxMs = 365 * 24 * 3_600_000

export const readRetryHint = (error: unknown, now: number): RetryHint => {
  const { nonRetryable, name, retryAfter } = typeof error === "object" && error !== null ? Object(error) : {}
  const ms = retryAfter instanceof Date ? retryAfter.getTime() - now : toMillis(retryAfter)
  return {
    final: nonRetryable === true || name === "NonRetryable",
    after_ms: ms !== null && Number.isFinite(ms) ? Math.trunc(Math.min(Math.max(0, ms), delayMaxMs)) : null
  }
}

/** Returns a number as it is, and the milliseconds of a duration. */
const toMillis = (value: unknown): number | null =>
  typeof value === "number" ? value : typeof value === "string" ? parseDuration(value) : null
