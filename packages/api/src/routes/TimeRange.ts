/** ISO 8601 durations of the query parameter `time_range`. */
import { Duration, Effect, Option, Schema, SchemaGetter, SchemaIssue } from "effect"

const day = 24 * 60 * 60

/** Seconds of each designator, in their order. A month has 30 days and a year 365. */
const units = [365 * day, 30 * day, 7 * day, day, 60 * 60, 60, 1]
const number = "(\\d{1,9}(?:\\.\\d{1,9})?)"
const date = ["Y", "M", "W", "D"].map((letter) => `(?:${number}${letter})?`).join("")
const time = ["H", "M", "S"].map((letter) => `(?:${number}${letter})?`).join("")
const pattern = new RegExp(`^P(?=\\d|T\\d)${date}(?:T(?=\\d)${time})?$`)

/** Parses a duration. Only the last part may have a fraction. */
export const parseIsoDuration = (text: string): Option.Option<Duration.Duration> => {
  const parts = pattern.exec(text)?.slice(1)
  if (parts === undefined) return Option.none()
  const last = parts.findLastIndex((part) => part !== undefined)
  if (parts.some((part, index) => index < last && part?.includes("."))) return Option.none()
  return Option.some(Duration.seconds(parts.reduce((sum, part, i) => sum + Number(part ?? 0) * (units[i] ?? 0), 0)))
}

export const TimeRange = Schema.String.annotate({
  format: "duration",
  description: "ISO 8601 duration back from now, such as P7D",
  examples: ["P7D"]
}).pipe(
  Schema.decodeTo(Schema.Duration, {
    decode: SchemaGetter.transformEffect((text) =>
      Option.match(parseIsoDuration(text), {
        onNone: () =>
          Effect.fail(new SchemaIssue.InvalidValue({ message: "must be an ISO 8601 duration such as P7D" })),
        onSome: Effect.succeed
      })
    ),
    encode: SchemaGetter.transform((duration) => `PT${Duration.toSeconds(duration)}S`)
  })
)
