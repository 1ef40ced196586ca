/** Errors on their way out: turned into plain text inside the isolate, so that the host never touches a guest object. */
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

/** An error that ends the run as "limit exceeded" unless the guest catches it. `limit` is named as in `Limits`. */
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

/** The limit that this thrown value stands for, if it is one of the kernel's own. */
export const limitOf = (thrown: unknown): string | undefined =>
  typeof thrown === "object" && thrown !== null ? weakGet(limits, thrown) : undefined

/** JSON text of [name, message, stack]. Reads properties of `thrown`, so it may run user code, and never throws. */
export const describeThrown = (thrown: unknown): string => {
  let name = "Error"
  let message = ""
  let stack = ""
  try {
    if (typeof thrown === "object" && thrown !== null) {
      const error: { readonly name?: unknown; readonly message?: unknown; readonly stack?: unknown } = thrown
      name = textOf(error.name, "Error", nameLength)
      message = textOf(error.message, "", messageLength)
      stack = textOf(error.stack, "", stackLength)
      stack = slice(withCauses(stack, thrown), 0, stackLength)
    } else {
      message = slice(NativeString(thrown), 0, messageLength)
    }
  } catch {
    message = message === "" ? "the thrown value cannot be read" : message
  }
  return stringify([name, message, stack])
}

/** The stack, followed by those of the errors that caused it, as authors know them from elsewhere. */
const withCauses = (stack: string, thrown: object): string => {
  let all = stack
  let cause: unknown = getProperty(thrown, "cause")
  for (let depth = 0; depth < causesMax && cause !== undefined; depth++) {
    if (typeof cause !== "object" || cause === null) return `${all}\nCaused by: ${NativeString(cause)}`
    const error: { readonly message?: unknown; readonly stack?: unknown } = cause
    all += `\nCaused by: ${textOf(error.stack, textOf(error.message, "", messageLength), stackLength)}`
    cause = getProperty(cause, "cause")
  }
  return all
}

export const messageOf = (thrown: unknown): string => {
  try {
    if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
      return textOf(thrown.message, "", messageLength)
    }
    return slice(NativeString(thrown), 0, messageLength)
  } catch {
    return "the thrown value cannot be read"
  }
}

const textOf = (value: unknown, absent: string, length: number): string =>
  value === undefined ? absent : slice(NativeString(value), 0, length)
