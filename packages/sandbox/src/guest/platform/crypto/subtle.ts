/**
 * `SubtleCrypto`: all of the Web Cryptography API.
 *
 * Digests are computed in the isolate. Everything else is computed by the runner, outside the guest's thread.
 */
import { bytesOf, isBufferSource } from "../bytes.ts"
import { brand } from "../define.ts"
import { DOMException } from "../dom-exception.ts"
import { modules } from "../modules.ts"
import {
  type Encoded,
  encodeAlgorithm,
  encodeData,
  encodeFormat,
  encodeKey,
  encodeKeyData,
  encodeNumber,
  encodeUsages,
  nameOf
} from "./arguments.ts"
import { type Answer, Attachments, type Range, request, toBytes } from "./exchange.ts"
import { type CryptoKey, type KeyAnswer, toKey } from "./keys.ts"

const internal: unique symbol = Symbol("SubtleCrypto")

/** Sends a request with the arguments that `encode` returns. */
const call = <A>(method: string, encode: (attachments: Attachments) => ReadonlyArray<Encoded>): Promise<Answer<A>> => {
  const attachments = new Attachments()
  return request(method, encode(attachments), attachments)
}

interface BytesAnswer {
  readonly bytes: Range
}

interface PairAnswer {
  readonly pair: readonly [publicKey: KeyAnswer, privateKey: KeyAnswer]
}

const toBuffer = ({ value, binary }: Answer<BytesAnswer>): ArrayBuffer => toBytes(binary(value.bytes)).buffer

/** Makes an operation that takes an algorithm, a key and data, and returns bytes. */
const cipher = async (method: string, algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> =>
  toBuffer(
    await call(method, (attachments) => [
      encodeAlgorithm(algorithm, attachments),
      encodeKey(key, attachments),
      encodeData(data, "The data", attachments)
    ])
  )

export class SubtleCrypto {
  constructor(key?: symbol) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
  }

  async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    if (!isBufferSource(data)) {
      throw new TypeError("The data must be an ArrayBuffer or a view of one.")
    }
    const digest = modules.hashes().digest(nameOf(algorithm).toUpperCase(), bytesOf(data))
    if (digest === undefined) {
      throw new DOMException("Unrecognized algorithm name", "NotSupportedError")
    }
    return digest.buffer
  }

  async encrypt(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    return cipher("encrypt", algorithm, key, data)
  }

  async decrypt(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    return cipher("decrypt", algorithm, key, data)
  }

  async sign(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    return cipher("sign", algorithm, key, data)
  }

  async verify(algorithm: unknown, key: CryptoKey, signature: unknown, data: unknown): Promise<boolean> {
    const { value } = await call<boolean>("verify", (attachments) => [
      encodeAlgorithm(algorithm, attachments),
      encodeKey(key, attachments),
      encodeData(signature, "The signature", attachments),
      encodeData(data, "The data", attachments)
    ])
    return value
  }

  async generateKey(
    algorithm: unknown,
    extractable: boolean,
    usages: unknown
  ): Promise<CryptoKey | { publicKey: CryptoKey; privateKey: CryptoKey }> {
    const { value, binary } = await call<KeyAnswer | PairAnswer>("generateKey", (attachments) => [
      encodeAlgorithm(algorithm, attachments),
      Boolean(extractable),
      encodeUsages(usages)
    ])
    if (!("pair" in value)) {
      return toKey(value, binary)
    }
    const [publicKey, privateKey] = value.pair
    return { publicKey: toKey(publicKey, binary), privateKey: toKey(privateKey, binary) }
  }

  async importKey(
    format: unknown,
    data: unknown,
    algorithm: unknown,
    extractable: boolean,
    usages: unknown
  ): Promise<CryptoKey> {
    const { value, binary } = await call<KeyAnswer>("importKey", (attachments) => [
      encodeFormat(format),
      encodeKeyData(data, attachments),
      encodeAlgorithm(algorithm, attachments),
      Boolean(extractable),
      encodeUsages(usages)
    ])
    return toKey(value, binary)
  }

  async exportKey(format: unknown, key: CryptoKey): Promise<ArrayBuffer | object> {
    const answer = await call<BytesAnswer | { readonly jwk: object }>("exportKey", (attachments) => [
      encodeFormat(format),
      encodeKey(key, attachments)
    ])
    const { value, binary } = answer
    return "jwk" in value ? value.jwk : toBuffer({ value, binary })
  }

  async deriveBits(algorithm: unknown, baseKey: CryptoKey, length: unknown = null): Promise<ArrayBuffer> {
    return toBuffer(
      await call("deriveBits", (attachments) => [
        encodeAlgorithm(algorithm, attachments),
        encodeKey(baseKey, attachments),
        length === null ? null : encodeNumber(length)
      ])
    )
  }

  async deriveKey(
    algorithm: unknown,
    baseKey: CryptoKey,
    derivedKeyType: unknown,
    extractable: boolean,
    usages: unknown
  ): Promise<CryptoKey> {
    const { value, binary } = await call<KeyAnswer>("deriveKey", (attachments) => [
      encodeAlgorithm(algorithm, attachments),
      encodeKey(baseKey, attachments),
      encodeAlgorithm(derivedKeyType, attachments),
      Boolean(extractable),
      encodeUsages(usages)
    ])
    return toKey(value, binary)
  }

  async wrapKey(format: unknown, key: CryptoKey, wrappingKey: CryptoKey, algorithm: unknown): Promise<ArrayBuffer> {
    return toBuffer(
      await call("wrapKey", (attachments) => [
        encodeFormat(format),
        encodeKey(key, attachments),
        encodeKey(wrappingKey, attachments),
        encodeAlgorithm(algorithm, attachments)
      ])
    )
  }

  async unwrapKey(
    format: unknown,
    wrappedKey: unknown,
    unwrappingKey: CryptoKey,
    algorithm: unknown,
    unwrappedKeyAlgorithm: unknown,
    extractable: boolean,
    usages: unknown
  ): Promise<CryptoKey> {
    const { value, binary } = await call<KeyAnswer>("unwrapKey", (attachments) => [
      encodeFormat(format),
      encodeData(wrappedKey, "The wrapped key", attachments),
      encodeKey(unwrappingKey, attachments),
      encodeAlgorithm(algorithm, attachments),
      encodeAlgorithm(unwrappedKeyAlgorithm, attachments),
      Boolean(extractable),
      encodeUsages(usages)
    ])
    return toKey(value, binary)
  }
}

brand({ SubtleCrypto })

export const subtle = new SubtleCrypto(internal)
