/** The OpenAPI document as input of the generator. */
import { WeftApi } from "@weft/api"
import { HttpApi, OpenApi } from "effect/http-api"

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: JsonSchema
  readonly contentSchema?: JsonSchema
}

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly description?: string
  readonly schema: JsonSchema
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

export interface Endpoint {
  readonly group: string
  readonly name: string
  readonly method: string
  /** With parameters as `{name}`. */
  readonly path: string
  readonly operation: Operation
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

const document: Document = JSON.parse(JSON.stringify(OpenApi.fromApi(WeftApi)))

export const schemas = document.components.schemas

const operations = new Map(
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [operation.operationId, { method, path, operation }] as const)
  )
)

const capitalized = (word: string): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`

/** Returns every endpoint of the API, in its order. Excludes webhooks and tools, which belong to tenants. */
export const endpoints = (): ReadonlyArray<Endpoint> => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(WeftApi, {
    onGroup: () => undefined,
    onEndpoint: ({ group, endpoint }) => {
      const id = `${group.identifier}${capitalized(endpoint.identifier)}`
      const place = operations.get(id)
      if (place === undefined) throw new Error(`The document has no operation ${id}`)
      found.push({
        group: group.identifier,
        name: endpoint.identifier,
        method: place.method.toUpperCase(),
        path: place.path,
        operation: place.operation
      })
    }
  })
  return found
}

/** Returns schema and media type of the success response, or null without a body. */
export const answerOf = ({ operation }: Endpoint) => {
  const contents = Object.entries(operation.responses)
    .filter(([status]) => status < "300")
    .flatMap(([, { content = {} }]) => Object.entries(content))
  const [first] = contents
  if (first === undefined) return null
  return { type: first[0], schemas: contents.map(([, { schema = {} }]) => schema) }
}
