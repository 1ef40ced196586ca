/** Parser of the `schedule` field of a dynamic schedule (decisions 5.5). Pure. */
import { Result } from "effect"
import { cronFault, isTimezone } from "../../foundation/time/Cron.ts"
import { parseDuration } from "../../foundation/time/Duration.ts"
import { readTicks } from "../../foundation/time/Ticks.ts"
import { parseInstant, Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Schedule } from "./Schedule.ts"

export type Timing = Pick<Schedule, "cron" | "timezone" | "next_at">

/** Maximum time until a schedule that fires once: ten years, in milliseconds. */
const aheadMaxMs = 3652 * 24 * 3_600_000

const cronLengthMax = 256

/**
 * Parses a cron expression of five or six fields in `timezone`, an ISO 8601 timestamp with a time zone, or a duration
 * from now. Fails with a predicate for a sentence about `schedule`.
 */
export const readTiming = (schedule: string, timezone: string, now: Timestamp): Result.Result<Timing, string> => {
  const after = parseDuration(schedule)
  if (after !== null) return once(now + after, now)
  const at = parseInstant(schedule)
  if (at !== null) return once(at, now)
  if (schedule.trim().split(/\s+/).length < 5) {
    return Result.fail("must be a cron expression, an ISO 8601 timestamp with a time zone, or an ISO 8601 duration")
  }
  return recurring(schedule, timezone, now)
}

const once = (at: number, now: Timestamp): Result.Result<Timing, string> => {
  if (at < now) return Result.fail("lies in the past")
  if (at > now + aheadMaxMs) return Result.fail("lies more than ten years ahead")
  return Result.succeed({ cron: null, timezone: "UTC", next_at: Timestamp.make(Math.round(at)) })
}

const recurring = (cron: string, timezone: string, now: Timestamp): Result.Result<Timing, string> => {
  if (!isTimezone(timezone)) return Result.fail("has a timezone that is not the name of one")
  const wrong = cron.length > cronLengthMax ? `must have at most ${cronLengthMax} characters` : cronFault(cron)
  if (wrong !== null) return Result.fail(wrong)
  const next_at = readTicks(cron, timezone)(now)
  return next_at === null ? Result.fail("never fires") : Result.succeed({ cron, timezone, next_at })
}
