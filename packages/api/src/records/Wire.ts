/** How stored values stand on the wire: instants as ISO 8601, JSON text as JSON. */
import { fromJsonText, isStorable, JsonText, Timestamp, toJsonText } from "@weft/core"
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

/** Text that is compared with what is stored. */
export const StorableText = Schema.String.check(
  Schema.makeFilter(isStorable, { message: "must be valid Unicode, without U+0000" })
)

/** Levels of arrays and objects in what a client sends; engines overflow their stack some thousands deeper. */
export const jsonLevelsMax = 500

const isWithin = (value: Schema.Json, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return true
  const inner: ReadonlyArray<Schema.Json> = Array.isArray(value) ? value : Object.values(value)
  return levels > 0 && inner.every((item) => isWithin(item, levels - 1))
}

/** JSON that a client sends: any, but not nested without bounds. */
export const SentJson = Schema.Json.check(
  Schema.makeFilter((value) => isWithin(value, jsonLevelsMax), {
    message: `must not be nested deeper than ${jsonLevelsMax} levels`
  })
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
