/** Ciphers of `node:crypto`, by the package `@noble/ciphers`. Their output comes with `final`. */
import { Buffer } from "node:buffer"
import { Transform } from "node:stream"
import { cbc, ctr, ecb, gcm } from "@noble/ciphers/aes.js"
import { chacha20poly1305 } from "@noble/ciphers/chacha.js"
import { secretOf, toBytes } from "./hashes.ts"

interface Cipher {
  encrypt: (data: Uint8Array) => Uint8Array
  decrypt: (data: Uint8Array) => Uint8Array
}

interface Parameters {
  readonly key: Uint8Array
  readonly iv: Uint8Array
  readonly additional: Uint8Array
  readonly padding: boolean
}

type Mode = "cbc" | "ctr" | "ecb" | "gcm" | "chacha20-poly1305"

const makers: Readonly<Record<Mode, (parameters: Parameters) => Cipher>> = {
  cbc: ({ key, iv, padding }) => cbc(key, iv, { disablePadding: !padding }),
  ctr: ({ key, iv }) => ctr(key, iv),
  ecb: ({ key, padding }) => ecb(key, { disablePadding: !padding }),
  gcm: ({ key, iv, additional }) => gcm(key, iv, additional),
  "chacha20-poly1305": ({ key, iv, additional }) => chacha20poly1305(key, iv, additional)
}

const tagBytes = 16

const isMode = (name: string | undefined): name is Mode => name !== undefined && Object.hasOwn(makers, name)

const findMode = (name: string, key: Uint8Array): Mode => {
  const lower = name.toLowerCase()
  const [, bits, mode] = /^(?:id-)?aes-?(128|192|256)-(\w+)$/i.exec(lower) ?? []
  const found = lower === "chacha20-poly1305" ? lower : mode
  if (!isMode(found)) throw Object.assign(new Error(`Unknown cipher ${name}`), { code: "ERR_CRYPTO_UNKNOWN_CIPHER" })
  const length = bits === undefined ? 32 : Number(bits) / 8
  if (key.length !== length) {
    throw Object.assign(new RangeError(`Invalid key length: ${name} needs ${length} bytes (got ${key.length})`), {
      code: "ERR_CRYPTO_INVALID_KEYLEN"
    })
  }
  return found
}

class Ciphering extends Transform {
  protected readonly mode: Mode
  protected tag: Buffer | undefined
  readonly #key: Uint8Array
  readonly #iv: Uint8Array
  readonly #chunks: Array<Buffer> = []
  #additional: Uint8Array = Buffer.alloc(0)
  #padding = true

  constructor(name: string, key: unknown, iv: unknown) {
    super()
    this.#key = Uint8Array.from(secretOf(key))
    this.mode = findMode(name, this.#key)
    this.#iv = iv === null || iv === undefined ? new Uint8Array(0) : Uint8Array.from(toBytes(iv))
  }

  update(data: unknown, from?: BufferEncoding, to?: BufferEncoding): Buffer | string {
    this.#chunks.push(Buffer.from(toBytes(data, from)))
    return to === undefined ? Buffer.alloc(0) : ""
  }

  setAAD(data: unknown): this {
    this.#additional = toBytes(data)
    return this
  }

  setAutoPadding(padding = true): this {
    this.#padding = padding
    return this
  }

  protected get isAuthenticated(): boolean {
    return this.mode === "gcm" || this.mode === "chacha20-poly1305"
  }

  protected takeInput(): Uint8Array {
    return Uint8Array.from(Buffer.concat(this.#chunks.splice(0)))
  }

  protected makeCipher(): Cipher {
    return makers[this.mode]({
      key: this.#key,
      iv: this.#iv,
      additional: Uint8Array.from(this.#additional),
      padding: this.#padding
    })
  }

  override _transform(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.update(chunk)
    done()
  }

  protected encode(bytes: Uint8Array, to: BufferEncoding | undefined): Buffer | string {
    const buffer = Buffer.from(bytes)
    return to === undefined ? buffer : buffer.toString(to)
  }
}

export class Cipheriv extends Ciphering {
  final(to?: BufferEncoding): Buffer | string {
    const sealed = this.makeCipher().encrypt(this.takeInput())
    if (!this.isAuthenticated) return this.encode(sealed, to)
    this.tag = Buffer.from(sealed.subarray(sealed.length - tagBytes))
    return this.encode(sealed.subarray(0, sealed.length - tagBytes), to)
  }

  getAuthTag(): Buffer {
    if (this.tag === undefined) throw new Error("Invalid state for operation getAuthTag: call final first")
    return this.tag
  }

  override _flush(done: () => void): void {
    this.push(this.final())
    done()
  }
}

export class Decipheriv extends Ciphering {
  setAuthTag(tag: unknown): this {
    this.tag = toBytes(tag)
    return this
  }

  final(to?: BufferEncoding): Buffer | string {
    try {
      const input = this.takeInput()
      const tag = this.isAuthenticated ? (this.tag ?? Buffer.alloc(0)) : Buffer.alloc(0)
      return this.encode(this.makeCipher().decrypt(Uint8Array.from(Buffer.concat([input, tag]))), to)
    } catch {
      const reason = this.isAuthenticated ? "Unsupported state or unable to authenticate data" : "bad decrypt"
      throw Object.assign(new Error(reason), { code: "ERR_OSSL_BAD_DECRYPT" })
    }
  }

  override _flush(done: (error?: Error) => void): void {
    try {
      this.push(this.final())
      done()
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

export const createCipheriv = (name: string, key: unknown, iv: unknown): Cipheriv => new Cipheriv(name, key, iv)
export const createDecipheriv = (name: string, key: unknown, iv: unknown): Decipheriv => new Decipheriv(name, key, iv)

export const getCiphers = (): ReadonlyArray<string> => [
  ...[128, 192, 256].flatMap((bits) => ["cbc", "ctr", "ecb", "gcm"].map((mode) => `aes-${bits}-${mode}`)),
  "chacha20-poly1305"
]

export const getCipherInfo = (name: string) => {
  const [, bits, mode] = /^(?:id-)?aes-?(128|192|256)-(cbc|ctr|ecb|gcm)$/i.exec(name) ?? []
  if (bits === undefined || mode === undefined) return undefined
  return { name, mode, keyLength: Number(bits) / 8, blockSize: 16, ivLength: mode === "gcm" ? 12 : 16 }
}
