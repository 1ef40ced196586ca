/** Instants and durations in queries. */
import { parseDuration, parseInstant, Timestamp } from "@weft/core/adapter"
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"

/** An instant that a client sends, as ISO 8601 with a time zone. */
export const SentInstant = Schema.String.annotate({ format: "date-time", examples: ["2026-01-31T12:00:00Z"] }).pipe(
  Schema.decodeTo(Timestamp, {
    decode: SchemaGetter.transformEffect((text) => {
      const instant = parseInstant(text)
      return instant === null
        ? Effect.fail(
            new SchemaIssue.InvalidValue({
              message: "must be an ISO 8601 timestamp with a time zone, such as 2026-01-31T12:00:00Z"
            })
          )
        : Effect.succeed(instant)
    }),
    encode: SchemaGetter.transform((instant) => new Date(instant).toISOString())
  })
)

/** A duration that a client sends, in milliseconds. */
export const SentDuration = Schema.String.annotate({ examples: ["5m"] }).pipe(
  Schema.decodeTo(Schema.Number, {
    decode: SchemaGetter.transformEffect((text) => {
      const millis = parseDuration(text)
      return millis === null
        ? Effect.fail(new SchemaIssue.InvalidValue({ message: "must be a duration such as 90s, 5m, 1h or PT5M" }))
        : Effect.succeed(millis)
    }),
    encode: SchemaGetter.transform((millis) => `${millis}ms`)
  })
)
