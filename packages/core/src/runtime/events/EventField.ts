/** Values in `event_data`, by the paths of `concurrency.key` and `idempotency`. Pure. */
import type { Schema } from "effect"
import { fromJsonText, type JsonText } from "../../foundation/JsonText.ts"

/** Returns the value at a path such as `order.customer_id`, or undefined. */
export const fieldAt = (data: JsonText, path: string): Schema.Json | undefined => {
  let value: Schema.Json | undefined = fromJsonText(data)
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined
    value = toProperties(value).get(name)
  }
  return value
}

/** Returns the value at a path as text, different for different values. Null and a missing value are equal. */
export const fieldText = (data: JsonText, path: string): string => JSON.stringify(fieldAt(data, path) ?? null)

/** Returns the properties of an object or an array. Elements of an array have their index as name. */
const toProperties = (value: Schema.JsonObject | Schema.JsonArray): ReadonlyMap<string, Schema.Json> =>
  new Map(Object.entries(value))
