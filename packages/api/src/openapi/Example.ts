/** Examples for the schemas of the document, put together from those of their fields. */
import { Schema } from "effect"
import { componentExamples, errorMessages, excludingFields, fieldExamples } from "./FieldExamples.ts"

type Json = Schema.Json
export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const prefix = "#/components/schemas/"

/** The name of the component that a schema refers to, or null. */
export const componentOf = (schema: unknown): string | null =>
  isObject(schema) && typeof schema.$ref === "string" && schema.$ref.startsWith(prefix)
    ? schema.$ref.slice(prefix.length)
    : null

const typeOf = (value: Json): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  return Number.isInteger(value) ? "integer" : typeof value
}

const isJson = Schema.is(Schema.Json)

const alternatives = (schema: JsonObject): ReadonlyArray<unknown> | null =>
  Array.isArray(schema.anyOf) ? schema.anyOf : Array.isArray(schema.oneOf) ? schema.oneOf : null

/** A value for a schema without a better one. */
const plain = (schema: JsonObject): Json => {
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
  /** An example of the schema, which may be a reference; `field` is the name that it stands under. */
  readonly of: (schema: unknown, field?: string) => Json
}

/** Examples for a document with these `components.schemas`. */
export const makeExamples = (components: JsonObject): Examples => {
  const fits = (schema: unknown, value: Json): boolean => {
    if (!isObject(schema)) return true
    const component = componentOf(schema)
    if (component !== null) return fits(components[component], value)
    if (Array.isArray(schema.enum)) return schema.enum.includes(value)
    const choices = alternatives(schema)
    if (choices !== null) return choices.some((choice) => fits(choice, value))
    const type = typeOf(value)
    if (schema.type === "object") return isObject(value) && fitsFields(schema, value)
    if (schema.type === "array") return Array.isArray(value) && value.every((item) => fits(schema.items, item))
    if (schema.format === "uuid" && !(typeof value === "string" && /^[0-9a-f-]{36}$/.test(value))) return false
    return schema.type === undefined || schema.type === type || (schema.type === "number" && type === "integer")
  }

  const fitsFields = ({ properties, required }: JsonObject, value: JsonObject): boolean =>
    (!Array.isArray(required) || required.every((name) => name in value)) &&
    Object.entries(isObject(properties) ? properties : {}).every(([name, schema]) => {
      const field = value[name]
      return field === undefined || (isJson(field) && fits(schema, field))
    })

  const ofObject = (properties: JsonObject, component: string): Json => {
    const own = componentExamples[component] ?? {}
    const shown = Object.entries(properties).filter(([name]) => !excludingFields[component]?.includes(name))
    return Object.fromEntries(
      shown.map(([name, schema]) => {
        const special = own[name]
        return [name, special !== undefined && fits(schema, special) ? special : of(schema, name)]
      })
    )
  }

  const of = (schema: unknown, field = "", component = ""): Json => {
    if (!isObject(schema)) return {}
    const named = componentOf(schema)
    const value = fieldExamples[field]
    if (value !== undefined && fits(schema, value)) return value
    // In a URL numbers are text.
    if (typeof value === "number" && fits(schema, String(value))) return String(value)
    if (named !== null) return of(components[named], field, named)
    if (Array.isArray(schema.enum)) return schema.enum[0]
    const choices = alternatives(schema)
    if (choices !== null) return of(choices[0], field, component)
    if (schema.type === "array") return [of(schema.items, "", component)]
    if (!isObject(schema.properties)) return plain(schema)
    const { code, message } = schema.properties
    const object = ofObject(schema.properties, component)
    return isObject(code) && message !== undefined && Array.isArray(code.enum) && isObject(object)
      ? { ...object, message: errorMessages.get(String(code.enum[0])) ?? "" }
      : object
  }

  return { of: (schema, field) => of(schema, field) }
}
