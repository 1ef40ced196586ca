/**
 * Converts arguments of `crypto.subtle` as Web IDL does, to values of a request. It copies all bytes: later changes have no
 * effect. The runner checks everything else.
 */
import { bytesOf, isBufferSource } from "../bytes.ts"
import type { Attachments, Range } from "./exchange.ts"
import { CryptoKey, sealedOf } from "./keys.ts"

/** A value of a request. `object` is a dictionary. */
export type Encoded =
  | string
  | boolean
  | number
  | null
  | ReadonlyArray<string>
  | { readonly bytes: Range }
  | { readonly key: Range }
  | { readonly number: string }
  | { readonly object: Readonly<Record<string, Encoded>> }

const numbers = ["iterations", "length", "modulusLength", "saltLength", "tagLength"]
const buffers = ["additionalData", "counter", "info", "iv", "label", "salt"]

/** Returns a value of another type than every parameter. */
const unfit: Encoded = { object: {} }

export const encodeNumber = (value: unknown): Encoded => {
  const number = Number(value)
  return Number.isFinite(number) ? number : { number: String(number) }
}

const encodeBuffer = (value: unknown, attachments: Attachments): Encoded =>
  isBufferSource(value) ? { bytes: attachments.bytes(bytesOf(value)) } : unfit

/** Converts bytes that an algorithm processes. Throws a `TypeError` for other values. */
export const encodeData = (data: unknown, what: string, attachments: Attachments): Encoded => {
  if (!isBufferSource(data)) {
    throw new TypeError(`${what} must be an ArrayBuffer or a view of one.`)
  }
  return encodeBuffer(data, attachments)
}

export const encodeKey = (key: unknown, attachments: Attachments): Encoded => {
  if (!(key instanceof CryptoKey)) {
    throw new TypeError("The key is not a CryptoKey.")
  }
  return { key: attachments.binary(sealedOf(key)) }
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function"

/** Returns the name of an algorithm, which is a string or an object. Throws a `TypeError` if the object has none. */
export const nameOf = (algorithm: unknown): string => {
  const name: unknown = isObject(algorithm) ? Reflect.get(algorithm, "name") : algorithm
  if (name === undefined && isObject(algorithm)) {
    throw new TypeError("The algorithm has no name.")
  }
  return String(name)
}

/** Converts an algorithm: its name, or an object with its name and its parameters. */
export const encodeAlgorithm = (algorithm: unknown, attachments: Attachments): Encoded => {
  if (!isObject(algorithm)) {
    return { object: { name: String(algorithm) } }
  }
  const members: Record<string, Encoded> = {}
  const read = (names: ReadonlyArray<string>, encode: (value: unknown) => Encoded): void => {
    for (const name of names) {
      const value: unknown = Reflect.get(algorithm, name)
      if (value !== undefined) {
        members[name] = encode(value)
      }
    }
  }
  members.name = nameOf(algorithm)
  read(["namedCurve"], String)
  read(numbers, encodeNumber)
  read(buffers, (value) => encodeBuffer(value, attachments))
  read(["publicExponent"], (value) => (value instanceof Uint8Array ? encodeBuffer(value, attachments) : unfit))
  read(["hash"], (value) => ({ object: { name: nameOf(value) } }))
  read(["public"], (value) => (value instanceof CryptoKey ? encodeKey(value, attachments) : unfit))
  return { object: members }
}

const formats = ["raw", "spki", "pkcs8", "jwk"]
const usageNames = ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"]

/** Converts a member of an enumeration. Throws a `TypeError` for other values. */
const encodeEnum = (value: unknown, members: ReadonlyArray<string>, what: string): string => {
  const text = String(value)
  if (!members.includes(text)) {
    throw new TypeError(`"${text}" is not a ${what}.`)
  }
  return text
}

export const encodeFormat = (format: unknown): string => encodeEnum(format, formats, "format of keys")

const isIterable = (value: unknown): value is Iterable<unknown> =>
  isObject(value) && typeof Reflect.get(value, Symbol.iterator) === "function"

export const encodeUsages = (usages: unknown): ReadonlyArray<string> => {
  if (!isIterable(usages)) {
    throw new TypeError("The usages are not a sequence.")
  }
  return Array.from(usages, (usage) => encodeEnum(usage, usageNames, "usage of keys"))
}

const webKeyMembers = ["alg", "crv", "d", "dp", "dq", "e", "k", "kty", "n", "p", "q", "qi", "use", "x", "y"]

/** Converts a key to import: bytes, or a JSON Web Key. */
export const encodeKeyData = (data: unknown, attachments: Attachments): Encoded => {
  if (isBufferSource(data)) {
    return encodeBuffer(data, attachments)
  }
  if (!isObject(data)) {
    throw new TypeError("The key must be an ArrayBuffer, a view of one, or a JSON Web Key.")
  }
  const members: Record<string, Encoded> = {}
  for (const name of webKeyMembers) {
    const value: unknown = Reflect.get(data, name)
    if (value !== undefined) {
      members[name] = String(value)
    }
  }
  const ops: unknown = Reflect.get(data, "key_ops")
  if (ops !== undefined) {
    if (!isIterable(ops)) {
      throw new TypeError("The member key_ops of the key is not a sequence.")
    }
    members.key_ops = Array.from(ops, String)
  }
  const ext: unknown = Reflect.get(data, "ext")
  if (ext !== undefined) {
    members.ext = Boolean(ext)
  }
  return { object: members }
}
