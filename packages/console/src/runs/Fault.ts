/** The error in the result of a failed run. */
import type { Json } from "@weft/client"

export interface Fault {
  readonly name: string
  readonly message: string
  readonly stack: string | null
}

/** Returns the error of a failed run's result, or undefined for other values. */
export const faultOf = (result: Json): Fault | undefined => {
  const error = fieldOf(result, "error") ?? result
  const message = fieldOf(error, "message")
  if (message === undefined) return undefined
  const stack = fieldOf(error, "stack")
  return {
    name: String(fieldOf(error, "name") ?? "Error"),
    message: String(message),
    stack: typeof stack === "string" ? stack : null
  }
}

const fieldOf = (value: Json, name: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined
