/** How stored values stand on the wire: instants as ISO 8601, JSON text as JSON. */
import { fromJsonText, JsonText, Timestamp, toJsonText } from "@weft/core"
import { Schema, SchemaTransformation } from "effect"

/** `2026-01-31T12:00:00.000Z`: UTC with milliseconds. */
export const Instant = Schema.String.annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(
    Timestamp,
    SchemaTransformation.transform({
      decode: (text) => Date.parse(text),
      encode: (millis) => new Date(millis).toISOString()
    })
  )
)

/** Any JSON value, which is JSON text inside. */
export const JsonValue = Schema.Json.pipe(
  Schema.decodeTo(
    JsonText,
    SchemaTransformation.transform({
      decode: (value): string => toJsonText(value),
      encode: (text) => fromJsonText(JsonText.make(text))
    })
  )
)
