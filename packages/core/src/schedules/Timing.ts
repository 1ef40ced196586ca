/** When a dynamic schedule fires, as its `schedule` says (decisions 5.5). Pure. */
import { Result } from "effect"
import { cronFault, isTimezone } from "../builds/Cron.ts"
import { parseDuration } from "../builds/Duration.ts"
import { readTicks } from "../builds/Ticks.ts"
import { parseInstant, Timestamp } from "../ids/Timestamp.ts"
import type { Schedule } from "./Schedule.ts"

export type Timing = Pick<Schedule, "cron" | "timezone" | "next_at">

/** How far ahead a schedule that fires once may be: ten years. */
const aheadMaxMs = 3652 * 24 * 3_600_000

const cronLengthMax = 256

/**
 * A cron expression of five or six fields, read in `timezone`; an ISO 8601 timestamp with a time zone; or a duration,
 * after which it fires. Fails with what is wrong, as the rest of a sentence about `schedule`.
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
