/** `openapi.json` as the reference reads it. */
import { readFileSync } from "node:fs"

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: JsonSchema
  readonly contentSchema?: JsonSchema
}

export interface Media {
  readonly schema: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly description?: string
  readonly required?: boolean
  readonly schema: JsonSchema
  readonly example?: unknown
}

export interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary: string
  readonly description?: string
  readonly "x-weft-extension"?: boolean
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Media>> }>
  >
  readonly security?: ReadonlyArray<Readonly<Record<string, unknown>>>
}

export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export interface Tag {
  readonly name: string
  readonly description: string
  readonly endpoints: ReadonlyArray<Endpoint>
}

interface Document {
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

const document: Document = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8"))

export const schemas = document.components.schemas

const endpoints: ReadonlyArray<Endpoint> = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
)

/** The endpoints by what they are about, in the order of the document. */
export const tags: ReadonlyArray<Tag> = document.tags.map(({ name, description }) => ({
  name,
  description,
  endpoints: endpoints.filter(({ operation }) => operation.tags.includes(name))
}))

/** The name of a schema that is referred to, else null. */
export const nameIn = ({ $ref }: JsonSchema): string | null => $ref?.replace("#/components/schemas/", "") ?? null

export const resolved = (schema: JsonSchema): JsonSchema => {
  const name = nameIn(schema)
  if (name === null) return schema
  const found = schemas[name]
  if (found === undefined) throw new Error(`openapi.json has no schema ${name}`)
  return found
}
