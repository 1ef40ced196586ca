/** The hash functions of WebCrypto, and HMAC with them. */
import { hmac } from "@noble/hashes/hmac.js"
import { sha1 } from "@noble/hashes/legacy.js"
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js"
import type { HashName } from "./algorithms.ts"

const hashes = { "SHA-1": sha1, "SHA-256": sha256, "SHA-384": sha384, "SHA-512": sha512 }

export const digest = (name: HashName, data: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(hashes[name](data))

export const authenticate = (name: HashName, key: Uint8Array, data: Uint8Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hmac(hashes[name], key, data))
