/** The webhook routes in the document. They are not endpoints of the API: what they answer is the tenant's code. */
import type { Examples, JsonObject } from "./Example.ts"
import { failureResponse, pathParameter } from "./WrittenOperation.ts"

const failures = {
  "400": "BadRequestError",
  "401": "UnauthorizedError",
  "403": "ForbiddenError",
  "404": "NotFoundError",
  "429": "RateLimitedError",
  "500": "InternalServerError"
}

const operation = (method: string, examples: Examples): JsonObject => ({
  operationId: `webhook${method}`,
  tags: ["Webhooks"],
  summary: "Call a function of a deployed build",
  description:
    "Answers when the function returns. A credential is needed where the endpoint says `auth: required`: " +
    "the permission `webhook: execute` on the service.",
  parameters: [
    pathParameter("org", "Slug of the organization", "acme"),
    pathParameter("env", "Name of the environment", "production"),
    pathParameter("service", "The endpoint's service", "greeter"),
    pathParameter("path", "The endpoint's path without its first slash; may hold more slashes", "hello")
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
    ...Object.fromEntries(
      Object.entries(failures).map(([status, component]) => failureResponse(status, component, examples))
    )
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
