/**
 * Instants, as whole milliseconds since 1970 in UTC.
 *
 * A number, because hot paths store and compare them; the HTTP layer writes them as ISO 8601.
 */
import { Clock, Effect, Schema } from "effect"

export const Timestamp = Schema.Int.pipe(Schema.brand("Timestamp"))
export type Timestamp = typeof Timestamp.Type

export const now: Effect.Effect<Timestamp> = Effect.map(Clock.currentTimeMillis, (millis) => Timestamp.make(millis))

export const addMillis = (instant: Timestamp, millis: number): Timestamp => Timestamp.make(instant + Math.round(millis))

/** ISO 8601 in UTC with milliseconds, as the API writes instants. */
export const iso = (instant: Timestamp): string => new Date(instant).toISOString()
