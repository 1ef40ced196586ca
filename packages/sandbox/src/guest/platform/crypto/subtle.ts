/**
 * `SubtleCrypto`: hashes, HMAC and AES-GCM.
 *
 * Everything is computed synchronously, within the guest's limits. Methods return promises only because the standard
 * requires them.
 */
import { equalConstantTime } from "../bytes.ts"
import { brand } from "../define.ts"
import { DOMException } from "../dom-exception.ts"
import { modules } from "../modules.ts"
import type { Parameters } from "./aes-gcm.ts"
import { copyData, type HashName, nameOf, notSupported, parameter, readHash, toView } from "./algorithms.ts"
import { CryptoKey, exportKey, generateKey, importKey, type JsonWebKey, type KeyUsage, secretFor } from "./keys.ts"

const internal: unique symbol = Symbol("SubtleCrypto")

const operationError = (): DOMException =>
  new DOMException("The operation failed for an operation-specific reason", "OperationError")

const requireName = (algorithm: unknown, name: string): void => {
  if (nameOf(algorithm) !== name) {
    throw notSupported("Unrecognized algorithm name")
  }
}

const gcmParameters = (algorithm: unknown): Parameters => {
  requireName(algorithm, "AES-GCM")
  const iv = copyData(parameter(algorithm, "iv"), "The iv")
  const additional = parameter(algorithm, "additionalData")
  const tagLength = parameter(algorithm, "tagLength")
  if (iv.length < 8 || (tagLength !== undefined && tagLength !== 128)) {
    throw notSupported("AES-GCM takes an iv of 8 bytes and more, and a tag of 128 bits.")
  }
  return { iv, additionalData: additional === undefined ? undefined : copyData(additional, "The additional data") }
}

/** Returns the hash of an HMAC key, and its secret. */
const hmacKey = (algorithm: unknown, key: CryptoKey, usage: KeyUsage): readonly [HashName, Uint8Array] => {
  requireName(algorithm, "HMAC")
  const secret = secretFor(key, "HMAC", usage)
  return [key.algorithm.name === "HMAC" ? key.algorithm.hash.name : "SHA-256", secret]
}

export class SubtleCrypto {
  constructor(key?: symbol) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
  }

  async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    const name = readHash(algorithm)
    return modules.hashes().digest(name, toView(data, "The data")).buffer
  }

  async sign(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    const [hash, secret] = hmacKey(algorithm, key, "sign")
    return modules.hashes().authenticate(hash, secret, toView(data, "The data")).buffer
  }

  async verify(algorithm: unknown, key: CryptoKey, signature: unknown, data: unknown): Promise<boolean> {
    const [hash, secret] = hmacKey(algorithm, key, "verify")
    const expected = modules.hashes().authenticate(hash, secret, toView(data, "The data"))
    return equalConstantTime(expected, toView(signature, "The signature"))
  }

  async encrypt(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    const parameters = gcmParameters(algorithm)
    const secret = secretFor(key, "AES-GCM", "encrypt")
    return modules.aesGcm().encrypt(secret, parameters, copyData(data, "The data")).buffer
  }

  async decrypt(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    const parameters = gcmParameters(algorithm)
    const secret = secretFor(key, "AES-GCM", "decrypt")
    const plain = modules.aesGcm().decrypt(secret, parameters, copyData(data, "The data"))
    if (plain === null) {
      throw operationError()
    }
    return plain.buffer
  }

  async generateKey(algorithm: unknown, extractable: boolean, usages: unknown): Promise<CryptoKey> {
    return generateKey(algorithm, Boolean(extractable), usages)
  }

  async importKey(
    format: unknown,
    data: unknown,
    algorithm: unknown,
    extractable: boolean,
    usages: unknown
  ): Promise<CryptoKey> {
    return importKey(format, data, algorithm, Boolean(extractable), usages)
  }

  async exportKey(format: unknown, key: CryptoKey): Promise<ArrayBuffer | JsonWebKey> {
    if (!(key instanceof CryptoKey)) {
      throw new TypeError("The key is not a CryptoKey.")
    }
    return exportKey(format, key)
  }

  async deriveBits(): Promise<never> {
    throw notSupported("Deriving bits is not supported")
  }
  async deriveKey(): Promise<never> {
    throw notSupported("Deriving keys is not supported")
  }
  async wrapKey(): Promise<never> {
    throw notSupported("Wrapping keys is not supported")
  }
  async unwrapKey(): Promise<never> {
    throw notSupported("Unwrapping keys is not supported")
  }
}

brand({ SubtleCrypto })

export const subtle = new SubtleCrypto(internal)
