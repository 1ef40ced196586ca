/** The URLs of tokens of durable runs in the document. Their secret is the credential, so they are no endpoints of the API. */
import type { Examples, JsonObject } from "./Example.ts"
import { failureResponse, pathParameter } from "./ManualOperation.ts"
import { completeResponse } from "./Responses.ts"

const failures = {
  "404": "NotFoundError",
  "409": "TokenCompletedError",
  "410": "TokenExpiredError",
  "429": "RateLimitedError",
  "500": "InternalServerError"
}

const parameters = [
  pathParameter("secret", "Secret of the token: the end of its URL", "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA")
]

const toFailures = (examples: Examples, all: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(all).map(([status, component]) => failureResponse(status, component, examples)))

const common = { "x-weft-extension": true, tags: ["Tokens"], parameters, security: [{}] }

/** Returns the URLs of tokens, with examples of their errors. */
export const tokenPath = (examples: Examples): JsonObject => {
  const completed = { $ref: "#/components/schemas/CompletedTokenResponse" }
  const input = { $ref: "#/components/schemas/TokenCompletionInput" }
  return {
    "/tokens/{secret}": {
      get: {
        ...common,
        operationId: "tokenGet",
        summary: "Show a page whose button completes the token",
        description: "The request itself completes nothing.",
        responses: {
          "200": completeResponse(
            "200",
            { description: "The page", content: { "text/html": { schema: { type: "string" } } } },
            examples
          ),
          ...toFailures(examples, failures)
        }
      },
      post: {
        ...common,
        operationId: "tokenPost",
        summary: "Complete a token of a durable run",
        description: "An empty body completes it with null. The button of the page posts an empty form.",
        requestBody: {
          required: false,
          content: { "application/json": { schema: input, example: { data: { approved: true } } } }
        },
        responses: {
          "200": completeResponse(
            "200",
            { description: "The token is completed", content: { "application/json": { schema: completed } } },
            examples
          ),
          ...toFailures(examples, { "400": "BadRequestError", ...failures })
        }
      }
    }
  }
}
