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

/** The instant that lies `duration` before; 1970 if that would be earlier. */
export const before = (instant: Timestamp, duration: Duration.Duration): Timestamp =>
  Timestamp.make(Math.max(0, Math.round(instant - Duration.toMillis(duration))))

/** ISO 8601 in UTC with milliseconds, as the API writes instants. */
export const iso = (instant: Timestamp): string => new Date(instant).toISOString()

const instant = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** The instant that an ISO 8601 timestamp with a time zone names; null for text that is none, or of no day that exists. */
export const parseInstant = (text: string): Timestamp | null => {
  const [, year, month, day] = instant.exec(text) ?? []
  const millis = day === undefined ? Number.NaN : Date.parse(text)
  // The engine takes the 30th of February for a day in March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return Number.isNaN(millis) || date.getUTCDate() !== Number(day) ? null : Timestamp.make(millis)
}
