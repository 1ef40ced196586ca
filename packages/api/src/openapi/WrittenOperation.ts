/** Parts of operations that are written by hand, because they are no endpoints of the API. */
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

/** A failure of this component, in its envelope. */
export const failureResponse = (status: string, component: string, examples: Examples) => {
  const schema = { $ref: `#/components/schemas/${component}` }
  return [status, completeResponse(status, { content: { "application/json": { schema } } }, examples)]
}
