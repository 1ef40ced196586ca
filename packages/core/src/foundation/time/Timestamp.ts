/**
 * Instants, as whole milliseconds since 1970 in UTC.
 *
 * A number, because hot paths store and compare them; the HTTP layer writes them as ISO 8601.
 */
import { Clock, Duration, Effect, Schema } from "effect"

export const Timestamp = Schema.Int.pipe(Schema.brand("Timestamp"))
export type Timestamp = typeof Timestamp.Type

export const now: Effect.Effect<Timestamp> = Effect.map(Clock.currentTimeMillis, (millis) =>
  Timestamp.make(millis, { disableChecks: true })
)

export const addMillis = (instant: Timestamp, millis: number): Timestamp => Timestamp.make(instant + Math.round(millis))

/** Returns the instant `duration` earlier, but not before 1970. */
export const before = (instant: Timestamp, duration: Duration.Duration): Timestamp =>
  Timestamp.make(Math.max(0, Math.round(instant - Duration.toMillis(duration))))

/** Formats an instant as ISO 8601 in UTC with milliseconds, as the API does. */
export const iso = (instant: Timestamp): string => new Date(instant).toISOString()

const instant = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** Parses an ISO 8601 timestamp with a time zone. Returns null for other text, and for days that do not exist. */
export const parseInstant = (text: string): Timestamp | null => {
  const [, year, month, day] = instant.exec(text) ?? []
  const millis = day === undefined ? Number.NaN : Date.parse(text)
  // The engine parses 30 February as a day in March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return Number.isNaN(millis) || date.getUTCDate() !== Number(day) ? null : Timestamp.make(millis)
}
