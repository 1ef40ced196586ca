/** The hash functions of WebCrypto. They compute in the isolate: data of any size, at once, within the CPU slice. */
import { sha1 } from "@noble/hashes/legacy.js"
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js"

const hashes: Readonly<Record<string, (data: Uint8Array) => Uint8Array>> = {
  "SHA-1": sha1,
  "SHA-256": sha256,
  "SHA-384": sha384,
  "SHA-512": sha512
}

/** Returns the digest; undefined if there is no such hash function. */
export const digest = (name: string, data: Uint8Array): Uint8Array<ArrayBuffer> | undefined => {
  const hash = Object.hasOwn(hashes, name) ? hashes[name] : undefined
  return hash === undefined ? undefined : new Uint8Array(hash(data))
}
