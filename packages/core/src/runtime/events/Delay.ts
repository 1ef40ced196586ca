/** Delayed publication of events (decisions section 8). */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { parseDuration } from "../../foundation/time/Duration.ts"
import { addMillis, parseInstant, Timestamp } from "../../foundation/time/Timestamp.ts"

export interface Delay {
  /** A duration as in a function's `meta`, such as `"90s"`, or milliseconds; at most 365 days. */
  readonly delay?: string | number
  /** ISO 8601 with a time zone, at most 365 days ahead; a past time means now. Not together with `delay`. */
  readonly deliver_at?: string
}

const delayMaxMs = 365 * 24 * 3_600_000

/** Returns the time of the event: `now` or later. */
export const resolveEventTime = (
  { delay, deliver_at }: Delay,
  now: Timestamp
): Effect.Effect<Timestamp, BadRequest> => {
  if (delay !== undefined && deliver_at !== undefined) return badRequest("give either delay or deliver_at")
  if (delay !== undefined) return afterDelay(delay, now)
  return deliver_at === undefined ? Effect.succeed(now) : atInstant(deliver_at, now)
}

const afterDelay = (delay: string | number, now: Timestamp): Effect.Effect<Timestamp, BadRequest> => {
  const millis = parseDuration(delay)
  if (millis === null) {
    return badRequest('delay must be a duration: "500ms", "1s", "1m", "1h", "1d", ISO 8601 or a number of milliseconds')
  }
  return millis > delayMaxMs ? badRequest("delay must be at most 365 days") : Effect.succeed(addMillis(now, millis))
}

const atInstant = (text: string, now: Timestamp): Effect.Effect<Timestamp, BadRequest> => {
  const millis = parseInstant(text)
  if (millis === null) return badRequest("deliver_at must be an ISO 8601 timestamp, such as 2026-01-31T12:00:00Z")
  if (millis > now + delayMaxMs) return badRequest("deliver_at must be at most 365 days ahead")
  return Effect.succeed(Timestamp.make(Math.max(millis, now)))
}

const badRequest = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))
