/**
 * A deterministic Web Crypto with the operations that nodes use here. Random bytes come from the seed. Asynchronous
 * operations finish within the microtask queue instead of in a thread.
 */
import { createHash, hkdfSync } from "node:crypto"
import type { Draws } from "./Draws.ts"

export class SeededCrypto {
  /** True if an asynchronous operation has started since the last `settled`. */
  #isBusy = false
  readonly #draws: Draws

  constructor(draws: Draws) {
    this.#draws = draws
  }

  /** Resolves when all started operations are done; null if none has started. */
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
        if (method === undefined) throw new Error(`The simulation does not implement crypto.subtle.${String(name)}`)
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
