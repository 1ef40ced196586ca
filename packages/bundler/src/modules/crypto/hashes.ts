/** Hashes and HMAC of `node:crypto`, by the package `@noble/hashes`. */
import { Buffer } from "node:buffer"
import { Transform } from "node:stream"
import { blake2b, blake2s } from "@noble/hashes/blake2.js"
import { hmac } from "@noble/hashes/hmac.js"
import { md5, ripemd160, sha1 } from "@noble/hashes/legacy.js"
import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "@noble/hashes/sha2.js"
import { sha3_224, sha3_256, sha3_384, sha3_512 } from "@noble/hashes/sha3.js"

export const hashes = {
  md5,
  ripemd160,
  sha1,
  sha224,
  sha256,
  sha384,
  sha512,
  "sha512-224": sha512_224,
  "sha512-256": sha512_256,
  "sha3-224": sha3_224,
  "sha3-256": sha3_256,
  "sha3-384": sha3_384,
  "sha3-512": sha3_512,
  blake2b512: blake2b,
  blake2s256: blake2s
}

type HashName = keyof typeof hashes

/** A hash function; noble's functions for different lengths have no common type. */
export type HashFunction = (typeof hashes)[HashName]

export interface Digest {
  update: (data: Uint8Array) => unknown
  digest: () => Uint8Array
  clone: () => Digest
}

/** Data of Node's API: text has an encoding, UTF-8 by default. */
export type Data = string | ArrayBuffer | NodeJS.ArrayBufferView

export const toBytes = (data: unknown, encoding: BufferEncoding = "utf8"): Buffer => {
  if (typeof data === "string") return Buffer.from(data, encoding)
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (data instanceof ArrayBuffer) return Buffer.from(data)
  throw Object.assign(new TypeError("The data must be a string, a buffer or a view of one"), {
    code: "ERR_INVALID_ARG_TYPE"
  })
}

const isHashName = (name: string): name is HashName => Object.hasOwn(hashes, name)

/** Accepts the names of OpenSSL and WebCrypto: `RSA-SHA256`, `SHA-256`, `sha256`. */
export const findHash = (name: string): HashFunction => {
  const plain = name.toLowerCase().replace(/^rsa-/, "")
  const known = [plain, plain.replace("-", ""), plain.replace("sha-", "sha")].find(isHashName)
  if (known === undefined)
    throw Object.assign(new Error(`Digest method not supported: ${name}`), { code: "ERR_CRYPTO_INVALID_DIGEST" })
  return hashes[known]
}

const finalized = (): Error => Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" })

const encode = (bytes: Uint8Array, encoding: BufferEncoding | "buffer" | undefined): Buffer | string => {
  const buffer = Buffer.from(bytes)
  return encoding === undefined || encoding === "buffer" ? buffer : buffer.toString(encoding)
}

class Digesting extends Transform {
  readonly #state: Digest
  #isDone = false

  constructor(state: Digest) {
    super()
    this.#state = state
  }

  update(data: Data, encoding?: BufferEncoding): this {
    if (this.#isDone) throw finalized()
    this.#state.update(toBytes(data, encoding))
    return this
  }

  digest(encoding?: BufferEncoding | "buffer"): Buffer | string {
    if (this.#isDone) throw finalized()
    this.#isDone = true
    return encode(this.#state.digest(), encoding)
  }

  /** Returns a copy of the state. */
  protected cloneState(): Digest {
    if (this.#isDone) throw finalized()
    return this.#state.clone()
  }

  override _transform(chunk: Uint8Array, encoding: BufferEncoding, done: () => void): void {
    this.update(chunk, encoding)
    done()
  }

  override _flush(done: () => void): void {
    this.push(this.digest())
    done()
  }
}

export class Hash extends Digesting {
  copy(): Hash {
    return new Hash(this.cloneState())
  }
}

export class Hmac extends Digesting {}

export const createHash = (name: string): Hash => new Hash(findHash(name).create())

export const createHmac = (name: string, key: unknown): Hmac => new Hmac(hmac.create(findHash(name), secretOf(key)))

/** Returns the bytes of a key, which may be a `KeyObject`. */
export const secretOf = (key: unknown): Uint8Array => {
  if (typeof key === "object" && key !== null && "export" in key && typeof key.export === "function") {
    return toBytes(key.export())
  }
  return toBytes(key)
}

export const hash = (name: string, data: Data, encoding: BufferEncoding | "buffer" = "hex"): Buffer | string =>
  createHash(name).update(data).digest(encoding)

export const getHashes = (): ReadonlyArray<string> => [
  ...Object.keys(hashes),
  ...["RSA-SHA1", "RSA-SHA256", "RSA-SHA384", "RSA-SHA512"]
]
