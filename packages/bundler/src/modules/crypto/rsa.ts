/** RSA: signatures and encryption of PKCS #1. The private operation is blinded, because its time depends on its input. */
import { Buffer } from "node:buffer"
import { fromInteger, tags, write, writeOid } from "./der.ts"
import { findHash } from "./hashes.ts"
import { randomBytes } from "./random.ts"

export interface RsaPublic {
  readonly n: bigint
  readonly e: bigint
}

export interface RsaPrivate extends RsaPublic {
  readonly d: bigint
  readonly p: bigint
  readonly q: bigint
  readonly dp: bigint
  readonly dq: bigint
  readonly qi: bigint
}

const power = (base: bigint, exponent: bigint, modulus: bigint): bigint => {
  let result = 1n
  let square = base % modulus
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

const inverse = (value: bigint, modulus: bigint): bigint => {
  let [a, b, x, y] = [value % modulus, modulus, 1n, 0n]
  while (a > 1n) {
    const quotient = a / b
    ;[a, b] = [b, a % b]
    ;[x, y] = [y, x - quotient * y]
  }
  return x < 0n ? x + modulus : x
}

const toBigInt = (bytes: Uint8Array): bigint => BigInt(`0x0${Buffer.from(bytes).toString("hex")}`)

export const sizeOf = ({ n }: RsaPublic): number => Math.ceil(n.toString(2).length / 8)

export const publicOperation = (key: RsaPublic, input: Uint8Array): Buffer =>
  fromInteger(power(toBigInt(input), key.e, key.n), sizeOf(key))

export const privateOperation = (key: RsaPrivate, input: Uint8Array): Buffer => {
  const { n, e, p, q, dp, dq, qi } = key
  const blind = (toBigInt(randomBytes(sizeOf(key)) ?? new Uint8Array()) % (n - 2n)) + 2n
  const message = (toBigInt(input) * power(blind, e, n)) % n
  const [first, second] = [power(message, dp, p), power(message, dq, q)]
  const h = (qi * (((first - second) % p) + p)) % p
  const blinded = second + h * q
  const result = (blinded * inverse(blind, n)) % n
  if (power(result, e, n) !== toBigInt(input) % n) throw new Error("The RSA key is not valid")
  return fromInteger(result, sizeOf(key))
}

const hashOids: Readonly<Record<string, string>> = {
  md5: "2a864886f70d0205",
  sha1: "2b0e03021a",
  sha224: "608648016503040204",
  sha256: "608648016503040201",
  sha384: "608648016503040202",
  sha512: "608648016503040203"
}

const plainName = (name: string): string => name.toLowerCase().replace(/^rsa-/, "").replace("-", "")

/** EMSA-PKCS1-v1_5: the padded digest with the name of its hash. */
const padSignature = (name: string, digest: Uint8Array, length: number): Buffer => {
  const oid = hashOids[plainName(name)]
  if (oid === undefined) throw new Error(`RSA signatures with ${name} are not supported`)
  const info = write(tags.sequence, write(tags.sequence, writeOid(oid), write(tags.null)), write(tags.octets, digest))
  const padding = length - info.length - 3
  if (padding < 8)
    throw Object.assign(new Error("The RSA key is too small for the digest"), {
      code: "ERR_OSSL_RSA_DIGEST_TOO_BIG_FOR_RSA_KEY"
    })
  return Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(padding, 0xff), Buffer.from([0]), info])
}

export const signPkcs1 = (key: RsaPrivate, name: string, digest: Uint8Array): Buffer =>
  privateOperation(key, padSignature(name, digest, sizeOf(key)))

export const verifyPkcs1 = (key: RsaPublic, name: string, digest: Uint8Array, signature: Uint8Array): boolean =>
  signature.length === sizeOf(key) && publicOperation(key, signature).equals(padSignature(name, digest, sizeOf(key)))

/** MGF1: a mask from a seed. */
const mask = (name: string, seed: Uint8Array, length: number): Buffer => {
  const hash = findHash(name)
  const blocks: Array<Uint8Array> = []
  for (let counter = 0; blocks.length * hash.outputLen < length; counter++) {
    const index = Buffer.alloc(4)
    index.writeUInt32BE(counter)
    blocks.push(hash(Buffer.concat([seed, index])))
  }
  return Buffer.concat(blocks).subarray(0, length)
}

const xor = (a: Uint8Array, b: Uint8Array): Buffer => Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)))

/** EMSA-PSS. */
const encodePss = (name: string, digest: Uint8Array, salt: Uint8Array, bits: number): Buffer => {
  const hash = findHash(name)
  const length = Math.ceil(bits / 8)
  const seal = hash(Buffer.concat([Buffer.alloc(8), digest, salt]))
  const zeros = length - salt.length - hash.outputLen - 2
  if (zeros < 0) throw new Error("The RSA key is too small for the salt")
  const block = Buffer.concat([Buffer.alloc(zeros), Buffer.from([1]), salt])
  const masked = xor(block, mask(name, seal, block.length))
  masked[0] = (masked[0] ?? 0) & (0xff >> (8 * length - bits))
  return Buffer.concat([masked, seal, Buffer.from([0xbc])])
}

const bitsOf = ({ n }: RsaPublic): number => n.toString(2).length - 1

export const signPss = (key: RsaPrivate, name: string, digest: Uint8Array, saltLength: number): Buffer =>
  privateOperation(key, encodePss(name, digest, randomBytes(saltLength) ?? new Uint8Array(), bitsOf(key)))

export const verifyPss = (key: RsaPublic, name: string, digest: Uint8Array, signature: Uint8Array): boolean => {
  const bits = bitsOf(key)
  const length = Math.ceil(bits / 8)
  const hash = findHash(name)
  if (signature.length !== sizeOf(key)) return false
  const encoded = publicOperation(key, signature).subarray(sizeOf(key) - length)
  const seal = encoded.subarray(length - hash.outputLen - 1, -1)
  const masked = encoded.subarray(0, length - hash.outputLen - 1)
  const block = xor(masked, mask(name, seal, masked.length))
  block[0] = (block[0] ?? 0) & (0xff >> (8 * length - bits))
  const start = block.indexOf(1)
  if (start < 0 || block.subarray(0, start).some((byte) => byte !== 0)) return false
  return encoded.equals(encodePss(name, digest, block.subarray(start + 1), bits))
}

/** EME-OAEP with an empty label. */
export const encryptOaep = (key: RsaPublic, name: string, data: Uint8Array): Buffer => {
  const hash = findHash(name)
  const length = sizeOf(key)
  const zeros = length - data.length - 2 * hash.outputLen - 2
  if (zeros < 0)
    throw Object.assign(new Error("The data is too large for the RSA key"), {
      code: "ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_KEY_SIZE"
    })
  const block = Buffer.concat([hash(new Uint8Array()), Buffer.alloc(zeros), Buffer.from([1]), data])
  const seed = randomBytes(hash.outputLen) ?? Buffer.alloc(0)
  const masked = xor(block, mask(name, seed, block.length))
  return publicOperation(key, Buffer.concat([Buffer.alloc(1), xor(seed, mask(name, masked, seed.length)), masked]))
}

export const decryptOaep = (key: RsaPrivate, name: string, data: Uint8Array): Buffer => {
  const hash = findHash(name)
  const encoded = privateOperation(key, data)
  const masked = encoded.subarray(1 + hash.outputLen)
  const seed = xor(encoded.subarray(1, 1 + hash.outputLen), mask(name, masked, hash.outputLen))
  const block = xor(masked, mask(name, seed, masked.length))
  const label = Buffer.from(hash(new Uint8Array()))
  const start = block.indexOf(1, hash.outputLen)
  const isValid =
    encoded[0] === 0 &&
    block.subarray(0, hash.outputLen).equals(label) &&
    start >= 0 &&
    block.subarray(hash.outputLen, start).every((byte) => byte === 0)
  if (!isValid) throw Object.assign(new Error("oaep decoding error"), { code: "ERR_OSSL_RSA_OAEP_DECODING_ERROR" })
  return Buffer.from(block.subarray(start + 1))
}
