/**
 * Rules for `crypto.subtle` of guests: the algorithms of the standard, with bounded parameters.
 *
 * A computation on a thread of Node cannot be stopped, so everything that could make one long is checked before. Node has
 * further algorithms, such as Argon2 with any amount of memory, which guests cannot reach.
 */
import { KeyObject, type webcrypto } from "node:crypto"
import type { RunnerLimits } from "../../protocol/RunnerLimits.ts"
import { isDictionary, type Value } from "./CryptoCode.ts"

export type CryptoLimits = Pick<RunnerLimits, "cryptoBytes" | "cryptoRsaBits" | "cryptoRounds" | "cryptoMs">

const algorithms = new Set(
  (
    "RSASSA-PKCS1-V1_5 RSA-PSS RSA-OAEP ECDSA ECDH ED25519 X25519 AES-CBC AES-CTR AES-GCM AES-KW HMAC HKDF PBKDF2 " +
    "SHA-1 SHA-256 SHA-384 SHA-512"
  ).split(" ")
)

/** Maximum size of a key, in bytes. */
const keyBytesMax = 64 * 1024
/** Maximum bits that are derived at once, and bits of a generated HMAC key. */
const bitsMax = 8 * keyBytesMax
/** Rounds of PBKDF2 above which a computation counts as long. */
const longRounds = 20_000
/** Maximum bits of the public exponent of an RSA key. */
const exponentBitsMax = 64

const refuse = (message: string): DOMException => new DOMException(message, "OperationError")

/** Returns the name of an algorithm in upper case, or "". */
const nameOf = (identifier: Value): string => {
  const name = read(identifier, "name")
  return typeof name === "string" ? name.toUpperCase() : ""
}

/** True if the algorithm exists for guests. */
export const isKnown = (name: string): boolean => algorithms.has(name.toUpperCase())

const read = (dictionary: Value, member: string): Value =>
  isDictionary(dictionary) ? dictionary.members.get(member) : undefined

const readNumber = (dictionary: Value, member: string): number => {
  const value = read(dictionary, member)
  return typeof value === "number" ? value : 0
}

const outputBits: Readonly<Record<string, number>> = { "SHA-1": 160, "SHA-256": 256, "SHA-384": 384, "SHA-512": 512 }

/** Checks the arguments of a method against the limits. True if the computation may be long. */
export const checkArguments = (method: string, args: ReadonlyArray<Value>, limits: CryptoLimits): boolean => {
  switch (method) {
    case "generateKey":
      return checkGeneration(args[0], limits)
    case "importKey":
    case "unwrapKey":
      checkKeySize(args[1])
      return false
    case "deriveBits":
      return checkDerivation(args[0], typeof args[2] === "number" ? args[2] : 0, limits)
    case "deriveKey":
      return checkDerivation(args[0], keyLength(args[2]), limits)
    default:
      return false
  }
}

/** Returns the bits that a derived key takes; the longest block of a hash if they follow from it. */
const keyLength = (identifier: Value): number => readNumber(identifier, "length") || 1024

const checkGeneration = (algorithm: Value, { cryptoRsaBits }: CryptoLimits): boolean => {
  const bits = readNumber(algorithm, "length")
  if (bits > bitsMax) throw refuse(`a key has at most ${bitsMax} bits (got ${bits})`)
  if (!nameOf(algorithm).startsWith("RSA")) return false
  const modulus = readNumber(algorithm, "modulusLength")
  if (modulus > cryptoRsaBits) {
    throw refuse(`modulusLength is at most ${cryptoRsaBits}, the limit cryptoRsaBits (got ${modulus})`)
  }
  const exponent = read(algorithm, "publicExponent")
  if (exponent instanceof Uint8Array && !isCommonExponent(exponent)) throw refuse("publicExponent must be 3 or 65537")
  return true
}

/** True for 3 and 65537, the exponents that browsers accept. With others, the search for primes may not end. */
const isCommonExponent = (exponent: Uint8Array): boolean => {
  const digits = exponent.subarray(
    Math.max(
      0,
      exponent.findIndex((byte) => byte !== 0)
    )
  )
  return digits.join() === "3" || digits.join() === "1,0,1"
}

/** Returns the bytes of a key, or the characters of a JSON Web Key. */
const sizeOf = (data: Value): number => {
  if (data instanceof Uint8Array || typeof data === "string") return data.length
  return isDictionary(data) ? [...data.members.values()].reduce((sum: number, member) => sum + sizeOf(member), 0) : 0
}

const checkKeySize = (data: Value): void => {
  const size = sizeOf(data)
  if (size > keyBytesMax) throw refuse(`a key has at most ${keyBytesMax} bytes (got ${size})`)
}

const checkDerivation = (algorithm: Value, bits: number, { cryptoRounds }: CryptoLimits): boolean => {
  if (bits > bitsMax) throw refuse(`at most ${bitsMax} bits can be derived at once (got ${bits})`)
  if (nameOf(algorithm) !== "PBKDF2") return false
  const blocks = Math.max(1, Math.ceil(bits / (outputBits[nameOf(read(algorithm, "hash"))] ?? 160)))
  const rounds = readNumber(algorithm, "iterations") * blocks
  if (rounds > cryptoRounds) {
    throw refuse(`iterations times blocks of output is at most ${cryptoRounds}, the limit cryptoRounds (got ${rounds})`)
  }
  return rounds > longRounds
}

/** Throws if a new key would make later computations long: an RSA key that is too large, or whose parts do not fit. */
export const checkKey = (key: webcrypto.CryptoKey, { cryptoRsaBits }: CryptoLimits): void => {
  if (!key.algorithm.name.startsWith("RSA")) return
  const parts = KeyObject.from(key).export({ format: "jwk" })
  const max = 2 * cryptoRsaBits
  const modulus = bitsOf(parts.n)
  if (modulus > max) throw refuse(`an RSA key has at most ${max} bits, twice the limit cryptoRsaBits (got ${modulus})`)
  if (bitsOf(parts.e) > exponentBitsMax) throw refuse(`the public exponent has at most ${exponentBitsMax} bits`)
  for (const part of [parts.d, parts.p, parts.q, parts.dp, parts.dq, parts.qi]) {
    if (bitsOf(part) > modulus) throw new DOMException("a part of the RSA key is longer than its modulus", "DataError")
  }
}

/** Returns the bits of a number in base64url, rounded up to whole bytes. */
const bitsOf = (number: unknown): number => (typeof number === "string" ? Math.floor((number.length * 3) / 4) * 8 : 0)
