/** The MCP route in the document: what it takes and gives is the matter of another protocol. */
import type { Examples, JsonObject } from "./Example.ts"
import { completeResponse } from "./Responses.ts"
import { failureResponse, pathParameter } from "./WrittenOperation.ts"

const failures = {
  "400": "BadRequestError",
  "401": "UnauthorizedError",
  "403": "ForbiddenError",
  "404": "NotFoundError",
  "429": "RateLimitedError",
  "500": "InternalServerError"
}

const message = { type: "object", required: ["jsonrpc"], properties: { jsonrpc: { type: "string", enum: ["2.0"] } } }

const answered = {
  description: "The answer, of the protocol too",
  content: { "application/json": { schema: message } }
}

/** The route of tools, with examples of its failures. */
export const mcpPath = (examples: Examples): JsonObject => ({
  "/mcp/{org}/{env}/{service}": {
    post: {
      operationId: "mcpPost",
      "x-weft-extension": true,
      tags: ["Tools"],
      summary: "Send a message of the Model Context Protocol to the tools of a service",
      description:
        "Streamable HTTP without a state: `tools/list`, `tools/call` and the rest of the protocol, one message at a " +
        "time. Needs the permission `mcp: execute` on the service.",
      parameters: [
        pathParameter("org", "Slug of the organization", "acme"),
        pathParameter("env", "Name of the environment", "production"),
        pathParameter("service", "The service that the tools are of", "crm")
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: message, example: { jsonrpc: "2.0", id: 1, method: "tools/list" } }
        }
      },
      security: [{ bearer: [] }],
      responses: {
        "200": completeResponse("200", answered, examples),
        "202": completeResponse("202", { description: "Taken: a notification has no answer" }, examples),
        ...Object.fromEntries(
          Object.entries(failures).map(([status, component]) => failureResponse(status, component, examples))
        )
      }
    }
  }
})
