/** Converts errors to text inside the isolate, so that the host never accesses an object of the guest. */
import {
  getProperty,
  NativeError,
  NativeString,
  NativeWeakMap,
  slice,
  stringify,
  weakGet,
  weakSet
} from "./primordials.ts"

const nameLength = 128
const messageLength = 8 * 1024
const stackLength = 32 * 1024
const causesMax = 5

const limits = new NativeWeakMap<object, string>()

/** Returns an error that ends the run with `LimitExceeded` unless the guest catches it. `limit` is a name in `Limits`. */
export const limitError = (limit: string, message: string): Error => {
  const error = namedError("LimitExceeded", message)
  weakSet(limits, error, limit)
  return error
}

export const namedError = (name: string, message: string): Error => {
  const error = new NativeError(message)
  error.name = name
  return error
}

/** Returns the limit of an error made by `limitError`, else undefined. */
export const findLimit = (thrown: unknown): string | undefined =>
  typeof thrown === "object" && thrown !== null ? weakGet(limits, thrown) : undefined

/** Returns [name, message, stack] as JSON text. It reads properties of `thrown`, so it may run user code; it never throws. */
export const describeThrown = (thrown: unknown): string => {
  let name = "Error"
  let message = ""
  let stack = ""
  try {
    if (typeof thrown === "object" && thrown !== null) {
      const error: { readonly name?: unknown; readonly message?: unknown; readonly stack?: unknown } = thrown
      name = readText(error.name, "Error", nameLength)
      message = readText(error.message, "", messageLength)
      stack = readText(error.stack, "", stackLength)
      stack = slice(withCauses(stack, thrown), 0, stackLength)
    } else {
      message = slice(NativeString(thrown), 0, messageLength)
    }
  } catch {
    message = message === "" ? "the thrown value cannot be read" : message
  }
  return stringify([name, message, stack])
}

/** Returns the stack followed by the stacks of the causes, as other runtimes print them. */
const withCauses = (stack: string, thrown: object): string => {
  let all = stack
  let cause: unknown = getProperty(thrown, "cause")
  for (let depth = 0; depth < causesMax && cause !== undefined; depth++) {
    if (typeof cause !== "object" || cause === null) return `${all}\nCaused by: ${NativeString(cause)}`
    const error: { readonly message?: unknown; readonly stack?: unknown } = cause
    all += `\nCaused by: ${readText(error.stack, readText(error.message, "", messageLength), stackLength)}`
    cause = getProperty(cause, "cause")
  }
  return all
}

export const readMessage = (thrown: unknown): string => {
  try {
    if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
      return readText(thrown.message, "", messageLength)
    }
    return slice(NativeString(thrown), 0, messageLength)
  } catch {
    return "the thrown value cannot be read"
  }
}

const readText = (value: unknown, absent: string, length: number): string =>
  value === undefined ? absent : slice(NativeString(value), 0, length)
