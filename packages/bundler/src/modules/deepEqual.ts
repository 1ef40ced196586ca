/** Deep comparison with the rules of `node:assert`. */

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const sameKeys = (a: object, b: object, names: ReadonlyArray<string | symbol>): boolean =>
  names.length === ownKeys(b).length && names.every((name) => Object.hasOwn(b, name) && Object.hasOwn(a, name))

const ownKeys = (value: object): ReadonlyArray<string | symbol> =>
  Reflect.ownKeys(value).filter((name) => Object.prototype.propertyIsEnumerable.call(value, name))

class Comparison {
  readonly #strict: boolean
  /** Pairs that are being compared: they are equal, as far as their cycle goes. */
  readonly #open = new Map<object, Set<object>>()

  constructor(strict: boolean) {
    this.#strict = strict
  }

  equal(a: unknown, b: unknown): boolean {
    if (this.#strict ? Object.is(a, b) : a === b || (Number.isNaN(a) && Number.isNaN(b))) return true
    // biome-ignore lint/suspicious/noDoubleEquals: the rule of `assert.deepEqual` for primitive values.
    if (!isObject(a) || !isObject(b)) return !this.#strict && !isObject(a) && !isObject(b) && a == b
    if (this.#strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
    if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false
    const others = this.#open.get(a) ?? new Set()
    if (others.has(b)) return true
    this.#open.set(a, others.add(b))
    try {
      return this.#sameContent(a, b)
    } finally {
      others.delete(b)
    }
  }

  #sameContent(a: object, b: object): boolean {
    if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
    if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b) && a.lastIndex === b.lastIndex
    if (a instanceof Error && b instanceof Error && (a.name !== b.name || a.message !== b.message)) return false
    if (a instanceof Map && b instanceof Map && !this.#sameMap(a, b)) return false
    if (a instanceof Set && b instanceof Set && !this.#sameSet(a, b)) return false
    if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false
    if (isBoxed(a) && isBoxed(b) && !Object.is(a.valueOf(), b.valueOf())) return false
    if (a instanceof ArrayBuffer && b instanceof ArrayBuffer) return this.equal(new Uint8Array(a), new Uint8Array(b))
    const names = ownKeys(a)
    return sameKeys(a, b, names) && names.every((name) => this.equal(Reflect.get(a, name), Reflect.get(b, name)))
  }

  #sameMap(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
    if (a.size !== b.size) return false
    return [...a].every(([key, value]) => {
      if (b.has(key)) return this.equal(value, b.get(key))
      return isObject(key) && [...b].some(([other, found]) => this.equal(key, other) && this.equal(value, found))
    })
  }

  #sameSet(a: ReadonlySet<unknown>, b: ReadonlySet<unknown>): boolean {
    if (a.size !== b.size) return false
    return [...a].every((value) => b.has(value) || [...b].some((other) => this.equal(value, other)))
  }
}

const isBoxed = (value: object): boolean =>
  value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt

export const isDeepStrictEqual = (a: unknown, b: unknown): boolean => new Comparison(true).equal(a, b)
export const isDeepEqual = (a: unknown, b: unknown): boolean => new Comparison(false).equal(a, b)
