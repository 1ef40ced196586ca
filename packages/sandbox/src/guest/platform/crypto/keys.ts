/** `CryptoKey`: a handle that only the runner can read. */
import { brand, inspectCustom } from "../define.ts"
import { modules } from "../modules.ts"
import type { Range } from "./exchange.ts"

/** Returns the handle of a key, for requests only. */
let sealedOf: (key: CryptoKey) => string

let create: (facts: KeyFacts, sealed: string) => CryptoKey

const internal: unique symbol = Symbol("CryptoKey")

interface KeyFacts {
  readonly type: string
  readonly extractable: boolean
  readonly algorithm: object
  readonly usages: Array<string>
}

export class CryptoKey {
  #sealed = ""
  #facts: KeyFacts = { type: "secret", extractable: false, algorithm: {}, usages: [] }

  static {
    sealedOf = (key) => key.#sealed
    create = (facts, sealed) => {
      const key = new CryptoKey(internal)
      key.#facts = facts
      key.#sealed = sealed
      return key
    }
  }

  constructor(key?: symbol) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
  }

  get type(): string {
    return this.#facts.type
  }
  get extractable(): boolean {
    return this.#facts.extractable
  }
  get algorithm(): object {
    return this.#facts.algorithm
  }
  get usages(): Array<string> {
    return this.#facts.usages
  }

  [inspectCustom](): string {
    const { type, extractable, algorithm, usages } = this
    return `CryptoKey ${modules.inspect().inspect({ type, extractable, algorithm, usages })}`
  }
}

/** A key in an answer of the runner. */
export interface KeyAnswer extends KeyFacts {
  readonly key: Range
  readonly algorithm: { publicExponent?: unknown }
}

export const toKey = (
  { key, type, extractable, algorithm, usages }: KeyAnswer,
  binary: (range: Range) => string
): CryptoKey => {
  if (Array.isArray(algorithm.publicExponent)) {
    algorithm.publicExponent = new Uint8Array(algorithm.publicExponent)
  }
  return create({ type, extractable, algorithm, usages }, binary(key))
}

export { sealedOf }

brand({ CryptoKey })
