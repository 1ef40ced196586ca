/** The webhook routes in the document. They are not endpoints of the API: what they answer is the tenant's code. */
import type { Examples, JsonObject } from "./Example.ts"
import { completeResponse } from "./Responses.ts"

const parameter = (name: string, description: string, example: string) => ({
  name,
  in: "path",
  required: true,
  description,
  schema: { type: "string" },
  example
})

const failures = {
  "400": "BadRequestError",
  "401": "UnauthorizedError",
  "403": "ForbiddenError",
  "404": "NotFoundError",
  "429": "RateLimitedError",
  "500": "InternalServerError"
}

const failure = (status: string, component: string, examples: Examples) => {
  const schema = { $ref: `#/components/schemas/${component}` }
  return [status, completeResponse(status, { content: { "application/json": { schema } } }, examples)]
}

const operation = (method: string, examples: Examples): JsonObject => ({
  operationId: `webhook${method}`,
  tags: ["Webhooks"],
  summary: "Call a function of a deployed build",
  description:
    "Answers when the function returns. A credential is needed where the endpoint says `auth: required`: " +
    "the permission `webhook: execute` on the service.",
  parameters: [
    parameter("org", "Slug of the organization", "acme"),
    parameter("env", "Name of the environment", "production"),
    parameter("service", "The endpoint's service", "greeter"),
    parameter("path", "The endpoint's path without its first slash; may hold more slashes", "hello")
  ],
  ...(method === "Get"
    ? {}
    : { requestBody: { required: false, content: { "*/*": { schema: {}, example: { name: "Ada" } } } } }),
  security: [{}, { bearer: [] }],
  responses: {
    default: {
      description: "What the function answers",
      content: { "*/*": { schema: {}, example: { hi: "Ada" } } }
    },
    ...Object.fromEntries(Object.entries(failures).map(([status, component]) => failure(status, component, examples)))
  }
})

/** The routes of webhooks, with examples of their failures. */
export const webhookPath = (examples: Examples): JsonObject => ({
  "/webhook/{org}/{env}/{service}/{path}": {
    get: operation("Get", examples),
    put: operation("Put", examples),
    patch: operation("Patch", examples),
    delete: operation("Delete", examples),
    post: operation("Post", examples)
  }
})
