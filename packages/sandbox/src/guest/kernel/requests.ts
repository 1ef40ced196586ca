/** Names, descriptions and errors of the requests of a durable function. */
import { namedError } from "./failures.ts"
import { getProperty, NativeError, NativeTypeError, stringify } from "./primordials.ts"

export interface RecordedRequest {
  readonly kind: string
  readonly name: string
}

export const nameLengthMax = 256

export const describe = (request: RecordedRequest | undefined): string =>
  request === undefined ? "unknown" : `${request.kind} ${stringify(request.name)}`

/** Returns the name of a request if it is valid. */
export const checkName = (method: string, name: unknown): string => {
  if (typeof name !== "string" || name === "" || name.length > nameLengthMax) {
    throw new NativeTypeError(`svc.${method} takes a name of 1 to ${nameLengthMax} characters`)
  }
  return name
}

/** Returns the error of a recorded result. */
export const toError = (value: unknown): Error => {
  if (typeof value !== "object" || value === null) return new NativeError()
  const read = (field: string): string => {
    const text: unknown = getProperty(value, field)
    return typeof text === "string" ? text : ""
  }
  const error = namedError(read("name"), read("message"))
  error.stack = read("stack")
  const cause: unknown = getProperty(value, "cause")
  if (cause !== undefined) error.cause = cause
  return error
}
