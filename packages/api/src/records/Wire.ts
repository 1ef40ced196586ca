/** Wire format of stored values: instants as ISO 8601, JSON text as JSON. */
import { fromJsonText, isStorable, JsonText, Timestamp, toJsonText } from "@weft/core/adapter"
import { Schema, SchemaTransformation } from "effect"

/** Returns the schema of an instant in UTC with milliseconds. */
export const instant = (example: string) =>
  Schema.String.annotate({ format: "date-time", examples: [example] }).pipe(
    Schema.decodeTo(
      Timestamp,
      SchemaTransformation.transform({
        decode: (text) => Date.parse(text),
        encode: (millis) => new Date(millis).toISOString()
      })
    )
  )

export const Instant = instant("2026-01-31T12:00:00.000Z")

/** Text that is compared with stored text. */
export const StorableText = Schema.String.check(
  Schema.makeFilter(isStorable, { message: "must be valid Unicode, without U+0000" })
)

/** Maximum depth of arrays and objects in input. Engines overflow their stack at some thousands of levels. */
export const jsonLevelsMax = 500

const isWithin = (value: Schema.Json, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return true
  const inner: ReadonlyArray<Schema.Json> = Array.isArray(value) ? value : Object.values(value)
  return levels > 0 && inner.every((item) => isWithin(item, levels - 1))
}

/** Any JSON that a client sends, with a limited depth. */
export const SentJson = Schema.Json.check(
  Schema.makeFilter((value) => isWithin(value, jsonLevelsMax), {
    message: `must not be nested deeper than ${jsonLevelsMax} levels`
  })
)

/** Returns the schema of any JSON value on the wire, and of JSON text in code. */
export const jsonValue = (example: Schema.Json) =>
  Schema.Json.annotate({ examples: [example] }).pipe(
    Schema.decodeTo(
      JsonText,
      SchemaTransformation.transform({
        decode: (value): string => toJsonText(value),
        encode: (text) => fromJsonText(JsonText.make(text))
      })
    )
  )
