/** Examples for the schemas of the document, composed of the examples of their fields. */
import { Schema } from "effect"
import { errorMessages } from "./ErrorMessages.ts"

type Json = Schema.Json
export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const prefix = "#/components/schemas/"

/** Returns the name of the component that a schema refers to, or null. */
export const componentOf = (schema: unknown): string | null =>
  isObject(schema) && typeof schema.$ref === "string" && schema.$ref.startsWith(prefix)
    ? schema.$ref.slice(prefix.length)
    : null

const isJson = Schema.is(Schema.Json)

const membersOf = (schema: JsonObject, keyword: "allOf" | "anyOf" | "oneOf"): ReadonlyArray<unknown> => {
  const members = schema[keyword]
  return Array.isArray(members) ? members : []
}

/** Returns the example that annotates a schema, or undefined. `effect` writes that of a field into `allOf`. */
const annotatedExample = (schema: JsonObject): Json | undefined => {
  const [own] = Array.isArray(schema.examples) ? schema.examples : []
  if (isJson(own)) return own
  for (const member of membersOf(schema, "allOf")) {
    const found = isObject(member) ? annotatedExample(member) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns the schema without the examples of its annotations, which the document shows for whole bodies only. */
export const withoutExamples = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutExamples)
  if (!isObject(schema)) return schema
  const { examples: _, allOf, properties, ...others } = schema
  const members = membersOf(schema, "allOf")
    .map(withoutExamples)
    .filter((one) => !isEmpty(one))
  const [only] = members
  if (members.length === 1 && isObject(only) && Object.keys(others).length === 0) return only
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): ReadonlyArray<readonly [string, unknown]> => {
      if (keyword === "examples" || (keyword === "allOf" && members.length === 0)) return []
      if (keyword === "allOf") return [[keyword, members]]
      if (keyword === "properties" && isObject(value)) {
        return [[keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutExamples(one)]))]]
      }
      return [[keyword, withoutExamples(value)]]
    })
  )
}

const isEmpty = (schema: unknown): boolean => isObject(schema) && Object.keys(schema).length === 0

/** Returns a generic value for a schema. */
const toDefaultExample = (schema: JsonObject): Json => {
  if (schema.format === "uuid") return "01970d44-8fc0-79c0-959d-c4e2d0816d11"
  if (schema.format === "date-time") return "2026-01-31T12:00:00.000Z"
  switch (schema.type) {
    case "string":
      return "text"
    case "integer":
    case "number":
      return typeof schema.minimum === "number" && schema.minimum > 1 ? schema.minimum : 1
    case "boolean":
      return true
    case "null":
      return null
    default:
      return {}
  }
}

export interface Examples {
  /** Returns an example of the schema, which may be a reference. */
  readonly of: (schema: unknown) => Json
}

/** Returns the examples for a document with these `components.schemas`. */
export const makeExamples = (components: JsonObject): Examples => {
  const ofObject = (properties: JsonObject): Json => {
    const { code, message } = properties
    const object = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, of(schema)]))
    return isObject(code) && message !== undefined && Array.isArray(code.enum)
      ? { ...object, message: errorMessages.get(String(code.enum[0])) ?? "" }
      : object
  }

  const of = (schema: unknown): Json => {
    if (!isObject(schema)) return {}
    const annotated = annotatedExample(schema)
    if (annotated !== undefined) return annotated
    const component = componentOf(schema)
    if (component !== null) return of(components[component])
    if (Array.isArray(schema.enum)) return schema.enum[0]
    const [choice] = [...membersOf(schema, "anyOf"), ...membersOf(schema, "oneOf")]
    if (choice !== undefined) return of(choice)
    if (schema.type === "array") return [of(schema.items)]
    return isObject(schema.properties) ? ofObject(schema.properties) : toDefaultExample(schema)
  }

  return { of }
}
