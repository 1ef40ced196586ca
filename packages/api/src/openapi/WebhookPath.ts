/** The webhook routes in the document. They are not endpoints of the API: the tenant's code defines their responses. */
import type { Examples, JsonObject } from "./Example.ts"
import { failureResponse, pathParameter } from "./ManualOperation.ts"
import { completeResponse } from "./Responses.ts"

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
    "Responds when the function returns. An endpoint with `auth: required` needs a credential with the permission " +
    "`webhook: execute` on the service.",
  parameters: [
    pathParameter("org", "Slug of the organization", "acme"),
    pathParameter("env", "Name of the environment", "production"),
    pathParameter("service", "Service of the endpoint", "greeter"),
    pathParameter("path", "Path of the endpoint without its first slash; may contain slashes", "hello")
  ],
  ...(method === "Get"
    ? {}
    : { requestBody: { required: false, content: { "*/*": { schema: {}, example: { name: "Ada" } } } } }),
  security: [{}, { bearer: [] }],
  responses: {
    "2XX": completeResponse(
      "2XX",
      {
        description: "The response of the function",
        content: { "*/*": { schema: {}, example: { hi: "Ada" } } }
      },
      examples
    ),
    default: { description: "Another response of the function", content: { "*/*": { schema: {} } } },
    ...Object.fromEntries(
      Object.entries(failures).map(([status, component]) => failureResponse(status, component, examples))
    )
  }
})

/** Returns the routes of webhooks, with examples of their errors. */
export const webhookPath = (examples: Examples): JsonObject => ({
  "/webhook/{org}/{env}/{service}/{path}": {
    get: operation("Get", examples),
    put: operation("Put", examples),
    patch: operation("Patch", examples),
    delete: operation("Delete", examples),
    post: operation("Post", examples)
  }
})
