/** TypeScript types of JSON schemas. */
import type { JsonSchema } from "./Document.ts"

/** Direction of a value. Sent fields accept any serializable value; received fields are JSON. */
export type Direction = "sent" | "received"

const numbersInWords = '["Infinity","-Infinity","NaN"]'

const isWordOfNumber = (schema: JsonSchema): boolean => JSON.stringify(schema.enum) === numbersInWords

export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

const unique = (types: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(types)]

export const typeOf = (schema: JsonSchema, direction: Direction, depth = 1): string => {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.contentSchema !== undefined) return typeOf(schema.contentSchema, direction, depth)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  if (schema.anyOf !== undefined) {
    const types = unique(schema.anyOf.filter((one) => !isWordOfNumber(one)).map((one) => typeOf(one, direction, depth)))
    return types.includes("Json") ? "Json" : types.join(" | ")
  }
  switch (schema.type) {
    case "integer":
    case "number":
      return "number"
    case "string":
    case "boolean":
    case "null":
      return schema.type
    case "array":
      return `ReadonlyArray<${typeOf(schema.items ?? {}, direction, depth)}>`
    case "object":
      return objectType(schema, direction, depth)
    default:
      return direction === "sent" ? "unknown" : "Json"
  }
}

const objectType = (schema: JsonSchema, direction: Direction, depth: number): string => {
  if (schema.properties === undefined) {
    return `Readonly<Record<string, ${typeOf(schema.additionalProperties ?? {}, direction, depth)}>>`
  }
  return `{\n${fieldsOf(schema, direction, depth)}\n${"  ".repeat(depth - 1)}}`
}

const fieldsOf = (schema: JsonSchema, direction: Direction, depth = 1): string => {
  const indent = "  ".repeat(depth)
  return Object.entries(schema.properties ?? {})
    .flatMap(([name, field]) => {
      const isRequired = schema.required?.includes(name) === true
      const type = name === "permissions" ? "Permissions" : typeOf(field, direction, depth + 1)
      const orUndefined = !isRequired && direction === "sent" && type !== "unknown" ? " | undefined" : ""
      const comment = field.description === undefined ? [] : [`${indent}/** ${field.description} */`]
      return [...comment, `${indent}readonly ${name}${isRequired ? "" : "?"}: ${type}${orUndefined}`]
    })
    .join("\n")
}

export const interfaceOf = (name: string, schema: JsonSchema, direction: Direction): string =>
  `export interface ${name} {\n${fieldsOf(schema, direction)}\n}`
