/** Values inside of event_data, as `concurrency.key` and `idempotency` name them. Pure. */
import type { Schema } from "effect"
import { fromJsonText, type JsonText } from "../ids/JsonText.ts"

/** The value at a path such as `order.customer_id`; undefined where there is none. */
export const fieldAt = (data: JsonText, path: string): Schema.Json | undefined => {
  let value: Schema.Json | undefined = fromJsonText(data)
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined
    value = propertiesOf(value).get(name)
  }
  return value
}

/** The value at a path as text that tells values apart; null and nothing count as one. */
export const fieldText = (data: JsonText, path: string): string => JSON.stringify(fieldAt(data, path) ?? null)

/** Elements of an array are named by their index. */
const propertiesOf = (value: Schema.JsonObject | Schema.JsonArray): ReadonlyMap<string, Schema.Json> =>
  new Map(Object.entries(value))
