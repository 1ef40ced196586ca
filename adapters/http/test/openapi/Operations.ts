/** The parsed OpenAPI document. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { documentText } from "../../scripts/document.ts"

export interface Media {
  readonly schema?: unknown
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Parameter extends Media {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
}

type Content = Readonly<Record<string, Media>>

export interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly tags: ReadonlyArray<string>
  readonly security?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<
    Record<string, { readonly content?: Content; readonly headers?: Readonly<Record<string, unknown>> }>
  >
  readonly "x-weft-extension"?: boolean
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
}

export const document: Document = JSON.parse(documentText())

/** All operations with their routes, such as `GET /v1/projects`. */
export const operations: ReadonlyArray<readonly [string, Operation]> = Object.entries(document.paths).flatMap(
  ([path, item]) =>
    Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const)
)

const ajv = new Ajv2020({
  strictSchema: false,
  formats: {
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    duration: /^P(\d+[YMWD])*(T(\d+[HMS])+)?$/,
    binary: true
  }
})
ajv.addSchema({ $id: "document", components: document.components })

const located = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema ?? {}).replaceAll('"#/', '"document#/'))

/** Compiles a schema of the document into a validator. */
export const validatorOf = (schema: unknown): ValidateFunction => ajv.compile(Object(located(schema)))
