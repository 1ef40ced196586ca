/**
 * The platform's cryptography as far as nodes use it here, without threads and without chance: random bytes are drawn,
 * and what is asynchronous is done by the time that the microtasks have run.
 */
import { createHash, hkdfSync } from "node:crypto"
import type { Draws } from "./Draws.ts"

export class SeededCrypto {
  /** Whether something asynchronous has begun that may not be done. */
  #isBusy = false
  readonly #draws: Draws

  constructor(draws: Draws) {
    this.#draws = draws
  }

  /** When all that has begun is done; null where nothing has. */
  settled(): Promise<void> | null {
    if (!this.#isBusy) return null
    this.#isBusy = false
    return new Promise((resolve) => setImmediate(resolve))
  }

  get crypto(): typeof globalThis.crypto {
    const subtle = this.#subtle()
    return new Proxy(globalThis.crypto, {
      get: (target, name) => {
        if (name === "subtle") return subtle
        if (name === "getRandomValues") {
          return (into: Uint8Array) => {
            this.#draws.bytes(into)
            return into
          }
        }
        return Reflect.get(target, name, target)
      }
    })
  }

  #subtle(): typeof globalThis.crypto.subtle {
    const methods: Readonly<Record<string, (...args: ReadonlyArray<never>) => Promise<unknown>>> = {
      digest: async (_: string, data: Uint8Array) => arrayBuffer(createHash("sha256").update(data).digest()),
      importKey: async (_: string, bytes: Uint8Array) => ({ bytes }),
      deriveBits: async ({ salt, info }: Hkdf, { bytes }: { readonly bytes: Uint8Array }, length: number) =>
        hkdfSync("sha256", bytes, salt, info, length / 8)
    }
    return new Proxy(globalThis.crypto.subtle, {
      get: (_, name) => {
        this.#isBusy = true
        const method = typeof name === "string" ? methods[name] : undefined
        if (method === undefined) throw new Error(`Nothing here was expected to use ${String(name)}`)
        return method
      }
    })
  }
}

interface Hkdf {
  readonly salt: Uint8Array
  readonly info: Uint8Array
}

const arrayBuffer = (bytes: Uint8Array): ArrayBufferLike => Uint8Array.from(bytes).buffer
