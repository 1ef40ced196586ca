/** What the generated OpenAPI document lacks: good ids, numbers in queries, permissions, the webhook routes. */
import { type Need, needOf } from "../access/Needs.ts"
import { webhookPath } from "./WebhookPath.ts"

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** `group.endpoint` becomes `groupEndpoint`, which generators of clients take for a function name. */
const functionName = (id: string): string => id.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The wire has digits; what they stand for is an integer with bounds. */
const integers: Readonly<Record<string, Json>> = {
  limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  offset: { type: "integer", minimum: 0, default: 0 }
}

/** Unknown fields are ignored, in requests and by clients in answers; the generator would forbid them. */
const open = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(open)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !(key === "additionalProperties" && inner === false))
      .map(([key, inner]) => [key, open(inner)])
  )
}

const requestIdHeader = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } }

const completeResponse = (response: Json): Json => {
  const headers = isObject(response.headers) ? response.headers : {}
  const retry = "retry-after" in headers ? { "retry-after": { required: true, schema: { type: "integer" } } } : {}
  return { ...response, headers: { ...headers, ...retry, ...requestIdHeader } }
}

const places: Readonly<Record<Need["on"], string>> = {
  project: "the project",
  body: "what the body names",
  resource: "the resource"
}

const completeOperation = (operation: Json): Json => {
  const id = String(operation.operationId)
  const [group = "", endpoint = ""] = id.split(".")
  const need = needOf(group, endpoint)
  const parameters = Array.isArray(operation.parameters) ? operation.parameters.filter(isObject) : []
  return {
    ...operation,
    operationId: functionName(id),
    ...(need === undefined
      ? {}
      : { description: `Needs the permission \`${need.type}: ${need.action}\` on ${places[need.on]}.` }),
    parameters: parameters.map((parameter) => {
      const schema = parameter.in === "query" ? integers[String(parameter.name)] : undefined
      return schema === undefined ? parameter : { ...parameter, schema }
    }),
    responses: Object.fromEntries(
      Object.entries(isObject(operation.responses) ? operation.responses : {}).map(([status, response]) => [
        status,
        isObject(response) ? completeResponse(response) : response
      ])
    )
  }
}

/** The transform of the document as `effect` generates it. */
export const completeDocument = (document: Json): Json => {
  const paths: Json = {}
  for (const [path, item] of Object.entries(isObject(document.paths) ? document.paths : {})) {
    if (!isObject(item)) continue
    paths[path] = Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [
        method,
        isObject(operation) ? completeOperation(operation) : operation
      ])
    )
  }
  const components = isObject(document.components) ? document.components : {}
  const tags = Array.isArray(document.tags) ? document.tags : []
  return {
    ...document,
    paths: { ...paths, ...webhookPath },
    components: {
      ...components,
      schemas: open(components.schemas),
      headers: {
        RequestId: {
          description: "Equal to request_id in the body",
          required: true,
          schema: { type: "string", format: "uuid" }
        }
      }
    },
    tags: [...tags, { name: "Webhooks", description: "Functions of the deployed builds as HTTP endpoints" }]
  }
}
