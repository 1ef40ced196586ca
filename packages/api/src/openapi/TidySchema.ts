/** Simplifies generated schemas, which are valid but make linters and client generators warn. */
import { isObject } from "./Example.ts"

/**
 * Replaces `anyOf` of one schema by that schema, and `anyOf` with a schema of any value by no restriction. Gives arrays of
 * any values the schema of their items.
 */
export const tidySchema = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidySchema)
  if (!isObject(value)) return value
  const tidied = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, tidySchema(inner)]))
  if (tidied.type === "array" && tidied.items === undefined && tidied.prefixItems === undefined) tidied.items = {}
  const { anyOf, ...rest } = tidied
  if (!Array.isArray(anyOf)) return tidied
  if (anyOf.some((schema) => isObject(schema) && Object.keys(schema).length === 0)) return rest
  const [only, ...others] = anyOf
  return others.length === 0 && isObject(only) ? { ...only, ...rest } : tidied
}
