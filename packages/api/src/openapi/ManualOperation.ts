/** Parts of operations in the document that are not endpoints of the API. */
import type { Examples } from "./Example.ts"
import { completeResponse } from "./Responses.ts"

export const pathParameter = (name: string, description: string, example: string) => ({
  name,
  in: "path",
  required: true,
  description,
  schema: { type: "string" },
  example
})

/** Returns the error response of a component, in its envelope. */
export const failureResponse = (status: string, component: string, examples: Examples) => {
  const schema = { $ref: `#/components/schemas/${component}` }
  return [status, completeResponse(status, { content: { "application/json": { schema } } }, examples)]
}
