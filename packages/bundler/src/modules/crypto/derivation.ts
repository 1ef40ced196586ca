/** Key derivation of `node:crypto`, by the package `@noble/hashes`. */
import { Buffer } from "node:buffer"
import { hkdf as nobleHkdf } from "@noble/hashes/hkdf.js"
import { pbkdf2 as noblePbkdf2 } from "@noble/hashes/pbkdf2.js"
import { scrypt as nobleScrypt } from "@noble/hashes/scrypt.js"
import { findHash, secretOf, toBytes } from "./hashes.ts"

type Done<A> = (error: Error | null, key?: A) => void

/** Calls back with the result of `derive`, or its error. */
const later = <A>(derive: () => A, done: unknown): void => {
  if (typeof done !== "function") throw new TypeError('The "callback" argument must be of type function')
  queueMicrotask(() => {
    let key: A
    try {
      key = derive()
    } catch (error) {
      done(error)
      return
    }
    done(null, key)
  })
}

export const pbkdf2Sync = (
  password: unknown,
  salt: unknown,
  iterations: number,
  length: number,
  name: string
): Buffer =>
  Buffer.from(noblePbkdf2(findHash(name), secretOf(password), toBytes(salt), { c: iterations, dkLen: length }))

export const pbkdf2 = (
  password: unknown,
  salt: unknown,
  iterations: number,
  length: number,
  name: string,
  done: Done<Buffer>
): void => later(() => pbkdf2Sync(password, salt, iterations, length, name), done)

interface ScryptOptions {
  readonly N?: number
  readonly cost?: number
  readonly r?: number
  readonly blockSize?: number
  readonly p?: number
  readonly parallelization?: number
}

export const scryptSync = (password: unknown, salt: unknown, length: number, options: ScryptOptions = {}): Buffer => {
  const { N = options.cost ?? 16_384, r = options.blockSize ?? 8, p = options.parallelization ?? 1 } = options
  return Buffer.from(nobleScrypt(toBytes(password), toBytes(salt), { N, r, p, dkLen: length }))
}

export const scrypt = (
  password: unknown,
  salt: unknown,
  length: number,
  ...rest: readonly [Done<Buffer>] | readonly [ScryptOptions, Done<Buffer>]
): void => {
  const [options, done] = rest.length === 1 ? [undefined, rest[0]] : rest
  later(() => scryptSync(password, salt, length, options), done)
}

export const hkdfSync = (name: string, key: unknown, salt: unknown, info: unknown, length: number): ArrayBuffer =>
  Uint8Array.from(nobleHkdf(findHash(name), secretOf(key), toBytes(salt), toBytes(info), length)).buffer

export const hkdf = (
  name: string,
  key: unknown,
  salt: unknown,
  info: unknown,
  length: number,
  done: Done<ArrayBuffer>
): void => later(() => hkdfSync(name, key, salt, info, length), done)
