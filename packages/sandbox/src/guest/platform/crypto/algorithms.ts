/** Names and parameters of algorithms as guests give them. */
import { type BufferSource, bytesOf, copyOf, isBufferSource } from "../bytes.ts"
import { DOMException } from "../dom-exception.ts"

export type HashName = "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512"

const hashNames: ReadonlyArray<HashName> = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"]

export const notSupported = (what: string): DOMException => new DOMException(what, "NotSupportedError")

/** The name in an identifier, which is a string or an object with a name; upper case, for comparing. */
export const nameOf = (algorithm: unknown): string => {
  const name: unknown = typeof algorithm === "object" && algorithm !== null ? Reflect.get(algorithm, "name") : algorithm
  if (typeof name !== "string") {
    throw new TypeError("The algorithm has no name.")
  }
  return name.toUpperCase()
}

export const hashOf = (algorithm: unknown): HashName => {
  const name = nameOf(algorithm)
  const hash = hashNames.find((each) => each === name)
  if (hash === undefined) {
    throw notSupported("Unrecognized algorithm name")
  }
  return hash
}

/** A member of the parameters; undefined when there is none. */
export const parameter = (algorithm: unknown, name: string): unknown =>
  typeof algorithm === "object" && algorithm !== null ? Reflect.get(algorithm, name) : undefined

/** A copy of data that the algorithm works on. */
export const dataOf = (data: unknown, what: string): Uint8Array<ArrayBuffer> => copyOf(sourceOf(data, what))

/** The bytes of data that is only looked at now. */
export const viewOf = (data: unknown, what: string): Uint8Array => bytesOf(sourceOf(data, what))

const sourceOf = (data: unknown, what: string): BufferSource => {
  if (!isBufferSource(data)) {
    throw new TypeError(`${what} must be an ArrayBuffer or a view of one.`)
  }
  return data
}
