/** Completes the generated OpenAPI document: ids, numbers in queries, examples, routes of webhooks, tokens and MCP. */
import { type Examples, isObject, type JsonObject, makeExamples, withoutExamples } from "./Example.ts"
import { mcpPath } from "./McpPath.ts"
import { operationDescriptions } from "./OperationDescriptions.ts"
import { completeResponse, responseHeaders, withExamples } from "./Responses.ts"
import { tidySchema } from "./TidySchema.ts"
import { tokenPath } from "./TokenPath.ts"
import { webhookPath } from "./WebhookPath.ts"

/** Converts `group.endpoint` to `groupEndpoint`, a valid function name for client generators. */
const functionName = (id: string): string => id.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Removes `additionalProperties: false`, because servers and clients ignore unknown fields. */
const allowUnknownFields = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(allowUnknownFields)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !(key === "additionalProperties" && inner === false))
      .map(([key, inner]) => [key, allowUnknownFields(inner)])
  )
}

/** Replaces the schema of a parameter in JSON text, such as digits, by that of its value. */
const completeParameter = (parameter: JsonObject, examples: Examples): JsonObject => {
  const schema =
    isObject(parameter.schema) && "contentSchema" in parameter.schema
      ? parameter.schema.contentSchema
      : parameter.schema
  return { ...parameter, schema: withoutExamples(schema), example: examples.of(schema) }
}

/** True for operations with a rate limit: those with a credential of an organization, and links to its files. */
const isLimited = (operation: JsonObject): boolean =>
  operation.operationId === "links.open" ||
  (Array.isArray(operation.security) && operation.security.some((scheme) => isObject(scheme) && "bearer" in scheme))

/** Operations whose body may be empty. `effect` marks each body as required. */
const emptyBodies: ReadonlyArray<string> = ["runs.cancel", "runs.replay", "builds.deploy"]

const completeOperation = (operation: JsonObject, examples: Examples): JsonObject => {
  const id = String(operation.operationId)
  const parameters = Array.isArray(operation.parameters) ? operation.parameters.filter(isObject) : []
  const { requestBody, responses } = operation
  return {
    ...operation,
    operationId: functionName(id),
    ...(id in operationDescriptions ? { description: operationDescriptions[id] } : {}),
    parameters: parameters.map((parameter) => completeParameter(parameter, examples)),
    ...(isObject(requestBody)
      ? {
          requestBody: {
            ...requestBody,
            required: !emptyBodies.includes(id),
            content: withExamples(requestBody.content, examples)
          }
        }
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
  adminBearer: { description: "The admin token of the host, for the routes under /admin." }
}

const securitySchemes = (schemes: unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(schemes) ? schemes : {}).map(([name, scheme]) => [
      name,
      isObject(scheme) ? { ...scheme, scheme: "bearer", ...credentials[name] } : scheme
    ])
  )

const info = {
  description:
    "Deploys functions, publishes events, and reads runs, files and settings of an environment. Successful responses have " +
    "`data` and `meta`; failures have `error` with a stable code.",
  contact: { name: "Weft" }
}

/** Transforms the document that `effect` generates. */
export const completeDocument = (document: JsonObject): JsonObject => {
  const components = isObject(document.components) ? document.components : {}
  const annotated = isObject(components.schemas) ? components.schemas : {}
  const examples = makeExamples(annotated)
  const schemas = Object.fromEntries(
    Object.entries(annotated).map(([name, schema]) => [name, tidySchema(allowUnknownFields(withoutExamples(schema)))])
  )
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
    info: { ...(isObject(document.info) ? document.info : {}), ...info },
    paths: { ...paths, ...webhookPath(examples), ...tokenPath(examples), ...mcpPath(examples) },
    components: {
      ...components,
      schemas,
      headers: responseHeaders,
      securitySchemes: securitySchemes(components.securitySchemes)
    },
    tags: [
      ...tags,
      { name: "Tokens", description: "Answers to durable runs, by the URLs of their tokens" },
      { name: "Webhooks", description: "Functions of the deployed builds as HTTP endpoints" },
      { name: "Tools", description: "Functions of the deployed builds as tools for models" }
    ]
  }
}
