/** When what is published now is to happen (decisions section 8). */
import { Effect } from "effect"
import { parseDuration } from "../builds/Duration.ts"
import { BadRequest } from "../errors/Errors.ts"
import { addMillis, parseInstant, Timestamp } from "../ids/Timestamp.ts"

export interface Delay {
  /** A duration as in a function's `meta`, such as `"90s"`, or milliseconds; at most 365 days. */
  readonly delay?: string | number
  /** ISO 8601 with a time zone, at most 365 days ahead; in the past it is now. Not together with `delay`. */
  readonly deliver_at?: string
}

const delayMaxMs = 365 * 24 * 3_600_000

/** `now`, or later. */
export const happensAt = ({ delay, deliver_at }: Delay, now: Timestamp): Effect.Effect<Timestamp, BadRequest> => {
  if (delay !== undefined && deliver_at !== undefined) return refused("give either delay or deliver_at")
  if (delay !== undefined) return after(delay, now)
  return deliver_at === undefined ? Effect.succeed(now) : at(deliver_at, now)
}

const after = (delay: string | number, now: Timestamp): Effect.Effect<Timestamp, BadRequest> => {
  const millis = parseDuration(delay)
  if (millis === null) {
    return refused('delay must be a duration: "500ms", "1s", "1m", "1h", "1d", ISO 8601 or a number of milliseconds')
  }
  return millis > delayMaxMs ? refused("delay must be at most 365 days") : Effect.succeed(addMillis(now, millis))
}

const at = (text: string, now: Timestamp): Effect.Effect<Timestamp, BadRequest> => {
  const millis = parseInstant(text)
  if (millis === null) return refused("deliver_at must be an ISO 8601 timestamp, such as 2026-01-31T12:00:00Z")
  if (millis > now + delayMaxMs) return refused("deliver_at must be at most 365 days ahead")
  return Effect.succeed(Timestamp.make(Math.max(millis, now)))
}

const refused = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))
