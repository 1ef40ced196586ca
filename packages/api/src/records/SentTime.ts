/** Instants and durations in queries. */
import { parseDuration, parseInstant, Timestamp } from "@weft/core/adapter"
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"

const exampleInstant = "2026-01-31T12:00:00.000Z"

/** Returns the schema of an instant that a client sends, as ISO 8601 with a time zone. */
export const sentInstant = (description: string) =>
  Schema.String.annotate({ format: "date-time", description, examples: [exampleInstant] }).pipe(
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

/** Returns the schema of a duration that a client sends, in milliseconds. */
export const sentDuration = (description: string) =>
  Schema.String.annotate({ description, examples: ["5m"] }).pipe(
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
