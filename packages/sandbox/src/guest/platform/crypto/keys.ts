/** `CryptoKey`, and the import, export and generation of keys. */
import { decodeUrl, encodeUrl } from "../base64.ts"
import { brand, inspectCustom } from "../define.ts"
import { DOMException } from "../dom-exception.ts"
import { modules } from "../modules.ts"
import { copyData, type HashName, nameOf, notSupported, parameter, readHash } from "./algorithms.ts"

export type KeyUsage = "encrypt" | "decrypt" | "sign" | "verify"

/** Lengths are in bits. */
export type KeyAlgorithm =
  | { readonly name: "HMAC"; readonly length: number; readonly hash: { readonly name: HashName } }
  | { readonly name: "AES-GCM"; readonly length: number }

export interface JsonWebKey {
  readonly kty: "oct"
  readonly k: string
  readonly alg: string
  readonly key_ops: ReadonlyArray<string>
  readonly ext: boolean
}

/** Returns the secret of a key, for the ciphers only. */
let secretOf: (key: CryptoKey) => Uint8Array<ArrayBuffer>

let create: (
  secret: Uint8Array<ArrayBuffer>,
  algorithm: KeyAlgorithm,
  extractable: boolean,
  usages: ReadonlyArray<KeyUsage>
) => CryptoKey

const internal: unique symbol = Symbol("CryptoKey")

export class CryptoKey {
  #secret = new Uint8Array()
  #algorithm: KeyAlgorithm = { name: "AES-GCM", length: 0 }
  #extractable = false
  #usages: ReadonlyArray<KeyUsage> = []

  static {
    secretOf = (key) => key.#secret
    create = (secret, algorithm, extractable, usages) => {
      const key = new CryptoKey(internal)
      key.#secret = secret
      key.#algorithm = algorithm
      key.#extractable = extractable
      key.#usages = usages
      return key
    }
  }

  constructor(key?: symbol) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
  }

  get type(): string {
    return "secret"
  }
  get extractable(): boolean {
    return this.#extractable
  }
  get algorithm(): KeyAlgorithm {
    return this.#algorithm.name === "HMAC"
      ? { ...this.#algorithm, hash: { ...this.#algorithm.hash } }
      : { ...this.#algorithm }
  }
  get usages(): Array<KeyUsage> {
    return [...this.#usages]
  }

  [inspectCustom](): string {
    const { type, extractable, algorithm, usages } = this
    return `CryptoKey ${modules.inspect().inspect({ type, extractable, algorithm, usages })}`
  }
}

const usagesFor = {
  HMAC: ["sign", "verify"],
  "AES-GCM": ["encrypt", "decrypt"]
} as const

const readUsages = (name: KeyAlgorithm["name"], given: unknown): ReadonlyArray<KeyUsage> => {
  const wanted = Array.isArray(given) ? given.map(String) : []
  // Other platforms also allow usages for wrapping keys. This one does not implement wrapping.
  const usages = usagesFor[name].filter((usage) => wanted.includes(usage))
  if (!wanted.every((usage) => usagesFor[name].some((known) => known === usage))) {
    throw new DOMException(`Unsupported key usage for ${name === "HMAC" ? "an HMAC" : "an AES-GCM"} key`, "SyntaxError")
  }
  if (usages.length === 0) {
    throw new DOMException("Usages cannot be empty when creating a secret key.", "SyntaxError")
  }
  return usages
}

const keyName = (algorithm: unknown): KeyAlgorithm["name"] => {
  const name = nameOf(algorithm)
  if (name !== "HMAC" && name !== "AES-GCM") {
    throw notSupported("Unrecognized algorithm name")
  }
  return name
}

const dataError = (message: string): DOMException => new DOMException(message, "DataError")

/** Returns the block size of a hash in bits, which is the length of a new HMAC key. */
const blockLength = (hash: HashName): number => (hash === "SHA-1" || hash === "SHA-256" ? 512 : 1024)

const isAesLength = (length: number): boolean => length === 128 || length === 192 || length === 256

/** Returns the algorithm of a key with this secret; throws a `DataError` if the secret does not fit the algorithm. */
const describe = (algorithm: unknown, secret: Uint8Array): KeyAlgorithm => {
  const bits = secret.length * 8
  if (keyName(algorithm) === "AES-GCM") {
    if (!isAesLength(bits)) {
      throw dataError("Invalid key length")
    }
    return { name: "AES-GCM", length: bits }
  }
  const hash = { name: readHash(parameter(algorithm, "hash")) }
  const length = parameter(algorithm, "length")
  if (bits === 0 || (length !== undefined && Number(length) !== bits)) {
    throw dataError("Invalid key length")
  }
  return { name: "HMAC", length: bits, hash }
}

const webName = (algorithm: KeyAlgorithm): string =>
  algorithm.name === "HMAC"
    ? `HS${algorithm.hash.name === "SHA-1" ? "1" : algorithm.hash.name.slice(4)}`
    : `A${algorithm.length}GCM`

/** Validates a JSON Web Key and returns its secret. */
const webSecret = (data: unknown, extractable: boolean, usages: unknown): Uint8Array<ArrayBuffer> => {
  const text: unknown = parameter(data, "k")
  if (parameter(data, "kty") !== "oct" || typeof text !== "string") {
    throw dataError('Invalid JWK: "kty" must be "oct", with a "k".')
  }
  const ops = parameter(data, "key_ops")
  if (Array.isArray(ops) && Array.isArray(usages) && !usages.every((usage) => ops.includes(usage))) {
    throw dataError('Invalid JWK: "key_ops" does not allow all usages.')
  }
  if (parameter(data, "ext") === false && extractable) {
    throw dataError('Invalid JWK: "ext" forbids an extractable key.')
  }
  const secret = decodeUrl(text)
  if (secret === null) {
    throw dataError('Invalid JWK: "k" is not base64url.')
  }
  return secret
}

export const importKey = (
  format: unknown,
  data: unknown,
  algorithm: unknown,
  extractable: boolean,
  usages: unknown
): CryptoKey => {
  const name = keyName(algorithm)
  if (format !== "raw" && format !== "jwk") {
    throw notSupported(`Unable to import ${name} key using ${String(format)} format`)
  }
  const allowed = readUsages(name, usages)
  const secret = format === "raw" ? copyData(data, "The key") : webSecret(data, extractable, usages)
  const described = describe(algorithm, secret)
  const claimed = format === "jwk" ? parameter(data, "alg") : undefined
  if (claimed !== undefined && claimed !== webName(described)) {
    throw dataError('Invalid JWK: "alg" does not match the algorithm.')
  }
  return create(secret, described, extractable, allowed)
}

export const exportKey = (format: unknown, key: CryptoKey): ArrayBuffer | JsonWebKey => {
  if (!key.extractable) {
    throw new DOMException("key is not extractable", "InvalidAccessError")
  }
  const secret = secretOf(key)
  if (format === "raw") {
    return secret.slice().buffer
  }
  if (format !== "jwk") {
    throw notSupported(`Unable to export a secret key using ${String(format)} format`)
  }
  return { kty: "oct", k: encodeUrl(secret), alg: webName(key.algorithm), key_ops: key.usages, ext: true }
}

export const generateKey = (algorithm: unknown, extractable: boolean, usages: unknown): CryptoKey => {
  const name = keyName(algorithm)
  const given = parameter(algorithm, "length")
  const length =
    name === "HMAC" && given === undefined ? blockLength(readHash(parameter(algorithm, "hash"))) : Number(given)
  const isValid = name === "AES-GCM" ? isAesLength(length) : length > 0 && length % 8 === 0 && length <= 2 ** 16
  if (!isValid) {
    throw new DOMException("Invalid key length", "OperationError")
  }
  const allowed = readUsages(name, usages)
  const secret = modules.random().randomBytes(length / 8)
  return create(secret, describe(algorithm, secret), extractable, allowed)
}

/** Returns the secret of `key`; throws unless the key is for this algorithm and usage. */
export const secretFor = (key: unknown, algorithm: KeyAlgorithm["name"], usage: KeyUsage): Uint8Array<ArrayBuffer> => {
  if (!(key instanceof CryptoKey)) {
    throw new TypeError("The key is not a CryptoKey.")
  }
  if (key.algorithm.name !== algorithm) {
    throw new DOMException("Key algorithm mismatch", "InvalidAccessError")
  }
  if (!key.usages.includes(usage)) {
    throw new DOMException(`Unable to use this key to ${usage}`, "InvalidAccessError")
  }
  return secretOf(key)
}

brand({ CryptoKey })
