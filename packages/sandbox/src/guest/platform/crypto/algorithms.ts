/** Reads names and parameters of algorithms from guests' arguments. */
import { type BufferSource, bytesOf, copyBytes, isBufferSource } from "../bytes.ts"
import { DOMException } from "../dom-exception.ts"

export type HashName = "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512"

const hashNames: ReadonlyArray<HashName> = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"]

export const notSupported = (what: string): DOMException => new DOMException(what, "NotSupportedError")

/** Returns the name of an algorithm in upper case. The identifier is a string or an object with a name. */
export const nameOf = (algorithm: unknown): string => {
  const name: unknown = typeof algorithm === "object" && algorithm !== null ? Reflect.get(algorithm, "name") : algorithm
  if (typeof name !== "string") {
    throw new TypeError("The algorithm has no name.")
  }
  return name.toUpperCase()
}

export const readHash = (algorithm: unknown): HashName => {
  const name = nameOf(algorithm)
  const hash = hashNames.find((each) => each === name)
  if (hash === undefined) {
    throw notSupported("Unrecognized algorithm name")
  }
  return hash
}

/** Returns a member of the parameters, or undefined. */
export const parameter = (algorithm: unknown, name: string): unknown =>
  typeof algorithm === "object" && algorithm !== null ? Reflect.get(algorithm, name) : undefined

/** Returns a copy of the data that the algorithm processes. */
export const copyData = (data: unknown, what: string): Uint8Array<ArrayBuffer> => copyBytes(sourceOf(data, what))

/** Returns the bytes of data that is read immediately, without a copy. */
export const toView = (data: unknown, what: string): Uint8Array => bytesOf(sourceOf(data, what))

const sourceOf = (data: unknown, what: string): BufferSource => {
  if (!isBufferSource(data)) {
    throw new TypeError(`${what} must be an ArrayBuffer or a view of one.`)
  }
  return data
}
