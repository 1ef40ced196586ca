/** The MCP route in the document. The Model Context Protocol defines its messages. */
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

const message = {
  type: "object",
  required: ["jsonrpc"],
  properties: {
    jsonrpc: { type: "string", enum: ["2.0"] },
    id: {},
    method: { type: "string" }
  },
  additionalProperties: true
}

const protocolResponse = {
  description: "The response of the protocol; an event stream if the run sends messages before it",
  content: { "application/json": { schema: message }, "text/event-stream": { schema: { type: "string" } } }
}

/** Returns the route of tools, with examples of its errors. */
export const mcpPath = (examples: Examples): JsonObject => ({
  "/mcp/{org}/{env}/{service}": {
    post: {
      operationId: "mcpPost",
      "x-weft-extension": true,
      tags: ["Tools"],
      summary: "Send a message of the Model Context Protocol to a service",
      description:
        "Streamable HTTP: `tools/list`, `tools/call` and the other messages of the protocol, one per request. GET opens " +
        "the stream of a session, and DELETE ends a session. Needs the permission `mcp: execute` on the service.",
      parameters: [
        pathParameter("org", "Slug of the organization", "acme"),
        pathParameter("env", "Name of the environment", "production"),
        pathParameter("service", "Service of the tools", "crm")
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: message, example: { jsonrpc: "2.0", id: 1, method: "tools/list" } }
        }
      },
      security: [{ bearer: [] }],
      responses: {
        "200": completeResponse("200", protocolResponse, examples),
        "202": completeResponse("202", { description: "Accepted: a notification has no response" }, examples),
        ...Object.fromEntries(
          Object.entries(failures).map(([status, component]) => failureResponse(status, component, examples))
        )
      }
    }
  }
})
