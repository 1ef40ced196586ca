/** What the generated OpenAPI document lacks: good ids, numbers in queries, permissions, examples, the webhook routes. */
import { type Need, needOf } from "../access/Needs.ts"
import { type Examples, isObject, type JsonObject, makeExamples } from "./Example.ts"
import { mcpPath } from "./McpPath.ts"
import { completeResponse, responseHeaders, withExamples } from "./Responses.ts"
import { webhookPath } from "./WebhookPath.ts"

/** `group.endpoint` becomes `groupEndpoint`, which generators of clients take for a function name. */
const functionName = (id: string): string => id.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The wire has digits; what they stand for is an integer with bounds. */
const integers: Readonly<Record<string, JsonObject>> = {
  limit: { type: "integer", minimum: 1, maximum: 100 },
  offset: { type: "integer", minimum: 0 }
}

const firstPage: Readonly<Record<string, number>> = { limit: 20, offset: 0 }

/** Lists that are given whole where the query says nothing. */
const wholeLists: ReadonlySet<unknown> = new Set(["domains.list"])

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

const places: Readonly<Record<Need["on"], string>> = {
  project: "the project",
  body: "what the body names",
  resource: "the resource",
  path: "the path",
  stream: "the stream",
  all: "all streams"
}

const describe = (description: unknown, { type, action, or, also, on, callers }: Need): string => {
  const named = [action, ...(or === undefined ? [] : [or])].map((one) => `\`${type}: ${one}\``)
  const permission = `Needs the permission ${named.join(" or ")} on ${places[on]}${
    also === undefined ? "" : `, and \`${also.type}: ${also.action}\``
  }.${callers === undefined ? "" : " For API keys only."}`
  return typeof description === "string" ? `${description}\n\n${permission}` : permission
}

const completeParameter = (parameter: JsonObject, examples: Examples, isWhole: boolean): JsonObject => {
  const name = String(parameter.name)
  const integer = parameter.in === "query" ? integers[name] : undefined
  const schema =
    integer === undefined || isWhole ? (integer ?? parameter.schema) : { ...integer, default: firstPage[name] }
  return { ...parameter, schema, example: examples.of(schema, name) }
}

/** Rates are counted per organization, so that only its credentials, and links to its files, meet their limit. */
const isLimited = (operation: JsonObject): boolean =>
  operation.operationId === "links.open" ||
  (Array.isArray(operation.security) && operation.security.some((scheme) => isObject(scheme) && "bearer" in scheme))

const completeOperation = (operation: JsonObject, examples: Examples): JsonObject => {
  const id = String(operation.operationId)
  const [group = "", endpoint = ""] = id.split(".")
  const need = needOf(group, endpoint)
  const parameters = Array.isArray(operation.parameters) ? operation.parameters.filter(isObject) : []
  const { requestBody, responses } = operation
  return {
    ...operation,
    operationId: functionName(id),
    ...(need === undefined ? {} : { description: describe(operation.description, need) }),
    parameters: parameters.map((parameter) => completeParameter(parameter, examples, wholeLists.has(id))),
    ...(isObject(requestBody)
      ? { requestBody: { ...requestBody, content: withExamples(requestBody.content, examples) } }
      : {}),
    responses: Object.fromEntries(
      Object.entries(isObject(responses) ? responses : {})
        .filter(([status]) => status !== "429" || isLimited(operation))
        .map(([status, response]) => [
          status,
          isObject(response) ? completeResponse(status, response, examples) : response
        ])
    )
  }
}

const credentials: Readonly<Record<string, JsonObject>> = {
  bearer: { description: "An API key, a service key or a session. Each belongs to one environment." },
  adminBearer: { description: "The host's own token, for the routes under /admin." }
}

const securitySchemes = (schemes: unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(schemes) ? schemes : {}).map(([name, scheme]) => [
      name,
      isObject(scheme) ? { ...scheme, scheme: "bearer", ...credentials[name] } : scheme
    ])
  )

/** The transform of the document as `effect` generates it. */
export const completeDocument = (document: JsonObject): JsonObject => {
  const components = isObject(document.components) ? document.components : {}
  const schemas = open(components.schemas)
  const examples = makeExamples(isObject(schemas) ? schemas : {})
  const paths: JsonObject = {}
  for (const [path, item] of Object.entries(isObject(document.paths) ? document.paths : {})) {
    if (!isObject(item)) continue
    paths[path] = Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [
        method,
        isObject(operation) ? completeOperation(operation, examples) : operation
      ])
    )
  }
  const tags = Array.isArray(document.tags) ? document.tags : []
  return {
    ...document,
    paths: { ...paths, ...webhookPath(examples), ...mcpPath(examples) },
    components: {
      ...components,
      schemas,
      headers: responseHeaders,
      securitySchemes: securitySchemes(components.securitySchemes)
    },
    tags: [
      ...tags,
      { name: "Webhooks", description: "Functions of the deployed builds as HTTP endpoints" },
      { name: "Tools", description: "Functions of the deployed builds as tools of models" }
    ]
  }
}
