/** Instructions of a thrown error about further attempts: at a step, or at the run as a whole. */
import { parseDuration } from "./duration.ts"
import { dateNow, dateTime, getProperty, isFinite } from "./primordials.ts"

/** Maximum delay before the next attempt, in milliseconds: 365 days. The supervisor rejects longer ones. */
const delayMaxMs = 365 * 24 * 3_600_000

export interface RetryHint {
  /** True if no further attempt can succeed. */
  readonly isFinal: boolean
  /** Delay before the next attempt, in milliseconds. */
  readonly afterMs: number | undefined
}

/** Returns the instructions of an error. It reads properties of `thrown`, so it may run user code; it never throws. */
export const readRetryHint = (thrown: unknown): RetryHint => {
  try {
    if (typeof thrown !== "object" || thrown === null) return { isFinal: false, afterMs: undefined }
    const isFinal = getProperty(thrown, "nonRetryable") === true || getProperty(thrown, "name") === "NonRetryable"
    const after: unknown = getProperty(thrown, "retryAfter")
    if (after === undefined || after === null) return { isFinal, afterMs: undefined }
    const ms = toMillis(after)
    return { isFinal, afterMs: ms !== null && isFinite(ms) ? clampDelay(ms) : undefined }
  } catch {
    return { isFinal: false, afterMs: undefined }
  }
}

/** Returns the milliseconds until a time: a number of them, a duration or a date. */
const toMillis = (after: unknown): number | null =>
  typeof after === "number" ? after : typeof after === "string" ? parseDuration(after) : dateTime(after) - dateNow()

/** Returns whole milliseconds in the allowed range. */
const clampDelay = (ms: number): number => (ms < 0 ? 0 : ms > delayMaxMs ? delayMaxMs : ms - (ms % 1))
