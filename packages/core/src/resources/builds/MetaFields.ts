/** Parsers of single fields of a function's `meta`. Pure. Every fault contains its field. */
import { Result } from "effect"
import { isStorable } from "../../foundation/StorableText.ts"
import { parseDuration } from "../../foundation/time/Duration.ts"

/** Reason why `meta` is invalid, with the path of the field in it, such as "retry.attempts". */
export interface Fault {
  readonly field: string
  readonly reason: string
}

export type Read<A> = Result.Result<A, Fault>

export const fault = (field: string, reason: string): Read<never> => Result.fail({ field, reason })

/** Reads an object that may only have these keys. */
export const readObject = (
  field: string,
  value: unknown,
  keys: ReadonlyArray<string>
): Read<Readonly<Record<string, unknown>>> => {
  if (!isObject(value)) return fault(field, "must be an object")
  const unknown = Object.keys(value).find((key) => !keys.includes(key))
  return unknown === undefined ? Result.succeed(value) : fault(at(field, unknown.slice(0, 64)), "is not a known key")
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the path of a nested field. */
export const at = (field: string, key: string): string => (field === "" ? key : `${field}.${key}`)

/** Reads a value, or returns the fallback if it is undefined. */
export const optional = <A>(value: unknown, fallback: A, read: (value: unknown) => Read<A>): Read<A> =>
  value === undefined ? Result.succeed(fallback) : read(value)

export const readText = (field: string, value: unknown, lengthMax: number): Read<string> =>
  typeof value === "string" && value.length > 0 && value.length <= lengthMax && isStorable(value)
    ? Result.succeed(value)
    : fault(field, `must be a string of 1 to ${lengthMax} characters: valid Unicode, without U+0000`)

/** Reads URL-safe text: letters, digits, hyphen, underscore and dot. */
export const readUrlSafe = (field: string, value: unknown): Read<string> =>
  typeof value === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(value) && value !== "." && value !== ".."
    ? Result.succeed(value)
    : fault(field, "must be 1 to 128 URL-safe characters: letters, digits, hyphen, underscore and dot")

export const readOneOf = <A extends string>(field: string, value: unknown, allowed: ReadonlyArray<A>): Read<A> => {
  const found = allowed.find((candidate) => candidate === value)
  return found === undefined ? fault(field, `must be one of ${allowed.join(", ")}`) : Result.succeed(found)
}

export const readNumber = (field: string, value: unknown, min: number, max: number): Read<number> =>
  typeof value === "number" && value >= min && value <= max
    ? Result.succeed(value)
    : fault(field, `must be a number from ${min} to ${max}`)

export const readInteger = (field: string, value: unknown, min: number, max: number): Read<number> =>
  Number.isInteger(value)
    ? readNumber(field, value, min, max)
    : fault(field, `must be an integer from ${min} to ${max}`)

export const readBoolean = (field: string, value: unknown): Read<boolean> =>
  typeof value === "boolean" ? Result.succeed(value) : fault(field, "must be true or false")

/** Reads a duration as whole milliseconds from `min` to `max` milliseconds. */
export const readDuration = (field: string, value: unknown, min: number, max: number): Read<number> => {
  const millis = parseDuration(value)
  if (millis === null) {
    return fault(field, 'must be a duration: "500ms", "1s", "1m", "1h", "1d", ISO 8601 or a number of milliseconds')
  }
  const whole = Math.round(millis)
  return whole >= min && whole <= max ? Result.succeed(whole) : fault(field, `must be from ${min} ms to ${max} ms`)
}

/** Reads a non-empty array, or a single value as an array of one element. */
export const readOneOrMore = <A>(
  field: string,
  value: unknown,
  read: (field: string, value: unknown) => Read<A>
): Read<ReadonlyArray<A>> => {
  if (!Array.isArray(value)) return Result.map(read(field, value), (item) => [item])
  if (value.length === 0) return fault(field, "must not be empty")
  return readEach(field, value, read)
}

export const readEach = <A>(
  field: string,
  values: ReadonlyArray<unknown>,
  read: (field: string, value: unknown) => Read<A>
): Read<ReadonlyArray<A>> => Result.all(values.map((value, index) => read(`${field}[${index}]`, value)))
