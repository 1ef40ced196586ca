/** The webhook routes in the document. They are not endpoints of the API: what they answer is the tenant's code. */

const parameter = (name: string, description: string) => ({
  name,
  in: "path",
  required: true,
  description,
  schema: { type: "string" }
})

const failure = (status: string, component: string) => [
  status,
  {
    description: component,
    content: { "application/json": { schema: { $ref: `#/components/schemas/${component}` } } }
  }
]

const operation = (method: string) => ({
  operationId: `webhook${method}`,
  tags: ["Webhooks"],
  summary: "Call a function of a deployed build",
  description:
    "Answers when the function returns. A credential is needed where the endpoint says `auth: required`: " +
    "the permission `webhook: execute` on the service.",
  parameters: [
    parameter("org", "Slug of the organization"),
    parameter("env", "Name of the environment"),
    parameter("service", "The endpoint's service"),
    parameter("path", "The endpoint's path without its first slash; may hold more slashes")
  ],
  ...(method === "Get" ? {} : { requestBody: { required: false, content: { "*/*": { schema: {} } } } }),
  security: [{}, { bearer: [] }],
  responses: {
    default: { description: "What the function answers", content: { "*/*": { schema: {} } } },
    ...Object.fromEntries([
      failure("400", "BadRequestError"),
      failure("401", "UnauthorizedError"),
      failure("403", "ForbiddenError"),
      failure("404", "NotFoundError"),
      failure("429", "RateLimitedError"),
      failure("500", "InternalServerError")
    ])
  }
})

export const webhookPath = {
  "/webhook/{org}/{env}/{service}/{path}": {
    get: operation("Get"),
    put: operation("Put"),
    patch: operation("Patch"),
    delete: operation("Delete"),
    post: operation("Post")
  }
}
