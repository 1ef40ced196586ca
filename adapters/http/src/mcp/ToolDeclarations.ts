/** Declarations of tools in TypeScript, from their JSON Schemas, for models that write code. */
import type { Tool } from "@weft/core/adapter"
import { isObject } from "./McpResults.ts"

/** Maximum characters of all declarations. Further tools are only named. */
const textMax = 64 * 1024
/** Maximum nesting of a type; deeper parts are `unknown`. */
const depthMax = 6

/** Returns `declare const tools` with a function for each tool. */
export const declareTools = (tools: ReadonlyArray<Tool>): string => {
  const lines: Array<string> = []
  const omitted: Array<string> = []
  let length = 0
  for (const tool of tools) {
    const text = declareTool(tool)
    length += text.length
    if (length > textMax) omitted.push(tool.name)
    else lines.push(text)
  }
  const rest = omitted.length === 0 ? "" : `  // and ${omitted.join(", ").slice(0, textMax)}\n`
  return `declare const tools: {\n${lines.join("")}${rest}}`
}

const declareTool = ({ name, description, input, output }: Tool): string => {
  const comment = description === "" ? "" : `  /** ${toComment(description)} */\n`
  const result = output === undefined ? "any" : toType(output, 0)
  return `${comment}  ${toKey(name)}(input: ${toType(input, 0)}): Promise<${result}>\n`
}

const toType = (schema: unknown, depth: number): string => {
  if (!isObject(schema) || depth > depthMax) return "unknown"
  if (Array.isArray(schema.enum)) return toUnion(schema.enum.map((value) => JSON.stringify(value) ?? "unknown"))
  if ("const" in schema) return JSON.stringify(schema.const) ?? "unknown"
  const parts = schema.anyOf ?? schema.oneOf
  if (Array.isArray(parts)) return toUnion(parts.map((part) => toType(part, depth + 1)))
  const { type } = schema
  if (Array.isArray(type)) return toUnion(type.map((one) => toType({ ...schema, type: one }, depth + 1)))
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type
    case "number":
    case "integer":
      return "number"
    case "array":
      return `Array<${toType(schema.items, depth + 1)}>`
    default:
      return isObject(schema.properties) ? toObject(schema, schema.properties, depth) : toOther(type)
  }
}

const toOther = (type: unknown): string => (type === "object" ? "Record<string, unknown>" : "unknown")

const toObject = (schema: Record<string, unknown>, properties: Record<string, unknown>, depth: number): string => {
  const required: ReadonlyArray<unknown> = Array.isArray(schema.required) ? schema.required : []
  const fields = Object.entries(properties).map(([name, field]) => {
    const described =
      isObject(field) && typeof field.description === "string" ? `/** ${toComment(field.description)} */ ` : ""
    return `${described}${toKey(name)}${required.includes(name) ? "" : "?"}: ${toType(field, depth + 1)}`
  })
  return fields.length === 0 ? "{}" : `{ ${fields.join("; ")} }`
}

const toUnion = (types: ReadonlyArray<string>): string =>
  types.length === 0 ? "never" : [...new Set(types)].join(" | ")

const toKey = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

/** Descriptions come from tenants: they must not end the comment. */
const toComment = (text: string): string => text.replace(/\s+/g, " ").replaceAll("*/", "* /")
