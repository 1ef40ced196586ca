/** Signatures and asymmetric encryption of `node:crypto`. */
import { Buffer } from "node:buffer"
import { Writable } from "node:stream"
import { ed25519 } from "@noble/curves/ed25519.js"
import { fromInteger, readSequence, tags, toInteger, write, writeInteger } from "./der.ts"
import { findHash, toBytes } from "./hashes.ts"
import { curves, derivePublic, KeyObject, type Material } from "./KeyObject.ts"
import { type Jwk, readDer, readJwk, readPem } from "./keyFormats.ts"
import { randomBytes } from "./random.ts"
import { decryptOaep, encryptOaep, signPkcs1, signPss, verifyPkcs1, verifyPss } from "./rsa.ts"

interface KeyInput {
  readonly key?: unknown
  readonly format?: string
  readonly type?: string
  readonly padding?: number
  readonly saltLength?: number
  readonly dsaEncoding?: string
  readonly oaepHash?: string
  readonly passphrase?: unknown
}

const isInput = (given: unknown): given is KeyInput =>
  typeof given === "object" && given !== null && "key" in given && !(given instanceof KeyObject)

const isJwk = (given: unknown): given is Jwk => typeof given === "object" && given !== null && "kty" in given

const readMaterial = (given: unknown): Material => {
  if (given instanceof KeyObject) return KeyObject.materialOf(given)
  if (!isInput(given)) return readPem(typeof given === "string" ? given : toBytes(given).toString("latin1"))
  const { key, format, type = "" } = given
  if (format === "jwk" && isJwk(key)) return readJwk(key)
  return format === "der" ? readDer(toBytes(key), type) : readMaterial(key)
}

const optionsOf = (given: unknown): KeyInput => (isInput(given) ? given : {})

const isPrivate = (material: Material): boolean => material.kind === "secret" || material.private !== undefined

export const createPrivateKey = (given: unknown): KeyObject => {
  const material = readMaterial(given)
  if (material.kind === "secret" || !isPrivate(material))
    throw Object.assign(new Error("The key is not a private key"), { code: "ERR_OSSL_UNSUPPORTED" })
  return new KeyObject("private", material)
}

export const createPublicKey = (given: unknown): KeyObject => {
  const material = readMaterial(given)
  if (material.kind === "secret")
    throw Object.assign(new TypeError("A secret key has no public key"), { code: "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE" })
  const { private: _, ...open } = material
  return new KeyObject("public", open)
}

export const createSecretKey = (key: unknown, encoding?: BufferEncoding): KeyObject =>
  new KeyObject("secret", { kind: "secret", bytes: Uint8Array.from(toBytes(key, encoding)) })

const pssPadding = 6

const requireAlgorithm = (name: string | null | undefined): string => {
  if (name === null || name === undefined) throw new TypeError("The algorithm of the digest is missing")
  return name
}

export const sign = (name: string | null | undefined, data: unknown, key: unknown): Buffer => {
  const material = readMaterial(key)
  const { padding, saltLength = -1, dsaEncoding = "der" } = optionsOf(key)
  if (material.kind === "secret" || material.private === undefined)
    throw new TypeError("A signature needs a private key")
  if (material.kind === "ed25519") return Buffer.from(ed25519.sign(Uint8Array.from(toBytes(data)), material.private))
  const algorithm = requireAlgorithm(name)
  const hash = findHash(algorithm)
  const digest = hash(toBytes(data))
  if (material.kind === "rsa") {
    if (padding !== pssPadding) return signPkcs1(material.private, algorithm, digest)
    return signPss(material.private, algorithm, digest, saltLength < 0 ? hash.outputLen : saltLength)
  }
  const compact = curves[material.curve].curve.sign(digest, material.private, { prehash: false, lowS: false })
  return dsaEncoding === "ieee-p1363" ? Buffer.from(compact) : toDer(Buffer.from(compact))
}

export const verify = (name: string | null | undefined, data: unknown, key: unknown, signature: unknown): boolean => {
  const material = readMaterial(key)
  const { padding, dsaEncoding = "der" } = optionsOf(key)
  const bytes = toBytes(signature)
  if (material.kind === "secret") throw new TypeError("A signature needs a public key")
  if (material.kind === "ed25519") {
    return (
      bytes.length === 64 && ed25519.verify(Uint8Array.from(bytes), Uint8Array.from(toBytes(data)), material.public)
    )
  }
  const algorithm = requireAlgorithm(name)
  const digest = findHash(algorithm)(toBytes(data))
  if (material.kind === "rsa") {
    return padding === pssPadding
      ? verifyPss(material.public, algorithm, digest, bytes)
      : verifyPkcs1(material.public, algorithm, digest, bytes)
  }
  try {
    const { curve } = curves[material.curve]
    const length = (material.public.length - 1) / 2
    const compact = dsaEncoding === "ieee-p1363" ? bytes : fromDer(bytes, length)
    return curve.verify(Uint8Array.from(compact), digest, material.public, { prehash: false, lowS: false })
  } catch {
    return false
  }
}

const toDer = (compact: Buffer): Buffer => {
  const half = compact.length / 2
  const [r, s] = [compact.subarray(0, half), compact.subarray(half)].map((part) => BigInt(`0x0${part.toString("hex")}`))
  return write(tags.sequence, writeInteger(r ?? 0n), writeInteger(s ?? 0n))
}

const fromDer = (signature: Buffer, length: number): Buffer => {
  const [r, s] = readSequence(signature).map(toInteger)
  return Buffer.concat([fromInteger(r ?? 0n, length), fromInteger(s ?? 0n, length)])
}

class Collector extends Writable {
  protected readonly algorithm: string
  protected readonly chunks: Array<Buffer> = []

  constructor(algorithm: string) {
    super()
    this.algorithm = algorithm
  }

  update(data: unknown, encoding?: BufferEncoding): this {
    this.chunks.push(Buffer.from(toBytes(data, encoding)))
    return this
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.update(chunk)
    done()
  }
}

export class Sign extends Collector {
  sign(key: unknown, encoding?: BufferEncoding): Buffer | string {
    const signature = sign(this.algorithm, Buffer.concat(this.chunks), key)
    return encoding === undefined ? signature : signature.toString(encoding)
  }
}

export class Verify extends Collector {
  verify(key: unknown, signature: unknown, encoding?: BufferEncoding): boolean {
    return verify(this.algorithm, Buffer.concat(this.chunks), key, toBytes(signature, encoding))
  }
}

export const createSign = (algorithm: string): Sign => new Sign(algorithm)
export const createVerify = (algorithm: string): Verify => new Verify(algorithm)

const oaepPadding = 4

const requireRsa = (given: unknown) => {
  const material = readMaterial(given)
  const { padding = oaepPadding, oaepHash = "sha1" } = optionsOf(given)
  if (material.kind !== "rsa" || padding !== oaepPadding)
    throw new Error("Only RSA keys with OAEP can encrypt in functions")
  return { material, oaepHash }
}

export const publicEncrypt = (key: unknown, data: unknown): Buffer => {
  const { material, oaepHash } = requireRsa(key)
  return encryptOaep(material.public, oaepHash, toBytes(data))
}

export const privateDecrypt = (key: unknown, data: unknown): Buffer => {
  const { material, oaepHash } = requireRsa(key)
  if (material.private === undefined) throw new TypeError("Decryption needs a private key")
  return decryptOaep(material.private, oaepHash, toBytes(data))
}

interface GenerateOptions {
  readonly namedCurve?: string
  readonly length?: number
  readonly publicKeyEncoding?: { readonly format?: "pem" | "der" | "jwk"; readonly type?: string }
  readonly privateKeyEncoding?: { readonly format?: "pem" | "der" | "jwk"; readonly type?: string }
}

const aliases: Readonly<Record<string, string>> = { "P-256": "prime256v1", "P-384": "secp384r1", "P-521": "secp521r1" }

const generateMaterial = (type: string, { namedCurve = "" }: GenerateOptions): Material => {
  if (type === "ed25519") {
    const secret = ed25519.utils.randomSecretKey()
    return { kind: "ed25519", public: derivePublic("ed25519", secret), private: secret }
  }
  const name = aliases[namedCurve] ?? namedCurve
  if (
    type !== "ec" ||
    !(name === "prime256v1" || name === "secp384r1" || name === "secp521r1" || name === "secp256k1")
  ) {
    throw new Error(
      `Functions cannot generate keys of the type ${type}: create the key elsewhere and store it as a secret`
    )
  }
  const secret = curves[name].curve.utils.randomSecretKey()
  return { kind: "ec", curve: name, public: derivePublic(name, secret), private: secret }
}

export const generateKeyPairSync = (type: string, options: GenerateOptions = {}) => {
  const material = generateMaterial(type, options)
  const [publicKey, privateKey] = [new KeyObject("public", material), new KeyObject("private", material)]
  const { publicKeyEncoding, privateKeyEncoding } = options
  return {
    publicKey: publicKeyEncoding === undefined ? publicKey : publicKey.export(publicKeyEncoding),
    privateKey: privateKeyEncoding === undefined ? privateKey : privateKey.export(privateKeyEncoding)
  }
}

type PairDone = (error: unknown, publicKey?: unknown, privateKey?: unknown) => void

export const generateKeyPair = (type: string, options: GenerateOptions, done: PairDone): void =>
  queueMicrotask(() => {
    let pair: ReturnType<typeof generateKeyPairSync>
    try {
      pair = generateKeyPairSync(type, options)
    } catch (error) {
      done(error)
      return
    }
    done(null, pair.publicKey, pair.privateKey)
  })

export const generateKeySync = (_type: string, { length = 256 }: GenerateOptions = {}): KeyObject =>
  createSecretKey(randomBytes(Math.floor(length / 8)))

export const generateKey = (
  type: string,
  options: GenerateOptions,
  done: (error: null, key: KeyObject) => void
): void => queueMicrotask(() => done(null, generateKeySync(type, options)))
