/**
 * The keys of one isolate, as handles that the guest holds.
 *
 * A handle is the key itself, encrypted and authenticated with a secret of the isolate (AES-256-GCM). So the runner
 * stores no keys: a guest that creates millions of them fills only its own heap. No guest can read a key that it may not
 * export, change the usages of one, or use a handle of another isolate. When the isolate ends, its handles are useless.
 */
import { Buffer } from "node:buffer"
import { createCipheriv, createDecipheriv, KeyObject, randomBytes, webcrypto } from "node:crypto"

const { subtle } = webcrypto
type CryptoKey = webcrypto.CryptoKey

const ivBytes = 12
const tagBytes = 16
/** Maximum keys of an isolate that remain decoded. */
const cachedMax = 16
/** Maximum length of a handle that remains decoded, in bytes. */
const cachedBytesMax = 8 * 1024

/** The content of a handle in addition to the key material. */
interface Facts {
  readonly type: string
  readonly algorithm: {
    readonly name: string
    readonly hash?: { readonly name: string }
    readonly namedCurve?: string
    readonly length?: number
  }
  readonly extractable: boolean
  readonly usages: ReadonlyArray<webcrypto.KeyUsage>
}

export class SealedKeys {
  #secret: Buffer | undefined
  /** Decoded keys by their handles, least recently used first. */
  readonly #cached = new Map<string, CryptoKey>()

  /** Returns the handle of a key, one character a byte. */
  seal(key: CryptoKey): string {
    const { type, extractable, usages } = key
    const facts = JSON.stringify({ type, algorithm: key.algorithm, extractable, usages })
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv)
    const header = Buffer.alloc(4)
    header.writeUInt32BE(Buffer.byteLength(facts))
    const sealed = Buffer.concat([
      iv,
      cipher.update(header),
      cipher.update(facts, "utf8"),
      cipher.update(materialOf(key)),
      cipher.final(),
      cipher.getAuthTag()
    ]).toString("latin1")
    this.#store(sealed, key)
    return sealed
  }

  /** Returns the key of a handle. Throws if this isolate did not receive the handle. */
  async open(sealed: string): Promise<CryptoKey> {
    const cached = this.#cached.get(sealed)
    if (cached !== undefined) {
      this.#cached.delete(sealed)
      this.#cached.set(sealed, cached)
      return cached
    }
    const bytes = Buffer.from(sealed, "latin1")
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, ivBytes), {
      authTagLength: tagBytes
    })
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    const opened = Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()])
    const factsEnd = 4 + opened.readUInt32BE(0)
    const facts: Facts = JSON.parse(opened.toString("utf8", 4, factsEnd))
    const key = await importMaterial(facts, opened.subarray(factsEnd))
    this.#store(sealed, key)
    return key
  }

  /** Forgets the secret and all keys. */
  clear(): void {
    this.#secret?.fill(0)
    this.#secret = undefined
    this.#cached.clear()
  }

  get #key(): Buffer {
    this.#secret ??= randomBytes(32)
    return this.#secret
  }

  #store(sealed: string, key: CryptoKey): void {
    if (sealed.length > cachedBytesMax) return
    this.#cached.set(sealed, key)
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= cachedMax) return
      this.#cached.delete(oldest)
    }
  }
}

/** Returns the raw bytes of a secret, SPKI of a public or PKCS #8 of a private key, also of one that is not extractable. */
const materialOf = (key: CryptoKey): Buffer => {
  const object = KeyObject.from(key)
  if (object.type === "public") return object.export({ type: "spki", format: "der" })
  return object.type === "private" ? object.export({ type: "pkcs8", format: "der" }) : object.export()
}

const importMaterial = ({ type, algorithm, extractable, usages }: Facts, material: Buffer): Promise<CryptoKey> => {
  const format = type === "public" ? "spki" : type === "private" ? "pkcs8" : "raw"
  const { name, hash, namedCurve, length } = algorithm
  const parameters = {
    name,
    ...(hash === undefined ? {} : { hash: hash.name }),
    ...(namedCurve === undefined ? {} : { namedCurve }),
    ...(name === "HMAC" && length !== undefined ? { length } : {})
  }
  return subtle.importKey(format, material, parameters, extractable, [...usages])
}
