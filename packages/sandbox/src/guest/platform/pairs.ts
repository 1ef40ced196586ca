/** The iteration of Web IDL over pairs of name and value: `entries`, `keys`, `values` and `forEach`. */
import { checked } from "./define.ts"

type Pair<V> = readonly [name: string, value: V]

/** Returns the pair at an index, or undefined after the last. Throws for an object of another class. */
type PairAt<A, V> = (self: A, index: number) => Pair<V> | undefined

const iteratorPrototype: object = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))

/** Returns the class of the iterators. They count positions, so that an iteration includes changes of the pairs. */
const makeIteratorClass = <A, V>(name: string, pairAt: PairAt<A, V>) => {
  class PairIterator {
    readonly #self: A
    readonly #read: (pair: Pair<V>) => unknown
    #index = 0

    constructor(self: A, read: (pair: Pair<V>) => unknown) {
      this.#self = self
      this.#read = read
    }

    next(): IteratorResult<unknown, undefined> {
      const pair = pairAt(this.#self, this.#index)
      if (pair === undefined) {
        return { value: undefined, done: true }
      }
      this.#index++
      return { value: this.#read(pair), done: false }
    }
  }
  Reflect.deleteProperty(PairIterator.prototype, "constructor")
  Object.setPrototypeOf(PairIterator.prototype, iteratorPrototype)
  Object.defineProperty(PairIterator.prototype, "next", { enumerable: true })
  Object.defineProperty(PairIterator.prototype, Symbol.toStringTag, { value: `${name} Iterator`, configurable: true })
  return PairIterator
}

/** Adds the methods of the iteration to a class. */
export const definePairs = <A extends object, V>(name: string, prototype: A, pairAt: PairAt<A, V>): void => {
  const PairIterator = makeIteratorClass(name, pairAt)
  const start = (self: A, read: (pair: Pair<V>) => unknown) => {
    pairAt(self, 0)
    return new PairIterator(self, read)
  }
  const methods = {
    entries(this: A): object {
      return start(this, ([key, value]) => [key, value])
    },
    keys(this: A): object {
      return start(this, ([key]) => key)
    },
    values(this: A): object {
      return start(this, ([, value]) => value)
    },
    forEach(this: A, callback: unknown, self: unknown = undefined): void {
      let pair = pairAt(this, 0)
      if (typeof callback !== "function") {
        throw new TypeError(`${name}.forEach: the callback is not a function.`)
      }
      for (let index = 1; pair !== undefined; index++) {
        Reflect.apply(callback, self, [pair[1], pair[0], this])
        pair = pairAt(this, index)
      }
    }
  }
  for (const [key, method] of Object.entries(methods)) {
    const value = key === "forEach" ? checked(key, Object(method)) : method
    Object.defineProperty(prototype, key, { value, writable: true, enumerable: true, configurable: true })
  }
  Object.defineProperty(prototype, Symbol.iterator, {
    value: methods.entries,
    writable: true,
    enumerable: false,
    configurable: true
  })
}

/**
 * Reads a sequence of pairs, or a record. `convert` throws for values that are not allowed, before the next is read.
 * A later key of a record replaces an earlier one that converts to the same text.
 */
export const readPairs = (
  init: object,
  convert: (value: unknown) => string,
  name: string
): Iterable<[string, string]> => {
  const iterate: unknown = Reflect.get(init, Symbol.iterator)
  if (iterate === undefined || iterate === null) {
    return readRecord(init, convert)
  }
  return Array.from(Object(init), (pair: unknown): [string, string] => {
    if ((typeof pair !== "object" && typeof pair !== "function") || pair === null) {
      throw new TypeError(`${name} constructor: every item must be a pair of name and value.`)
    }
    const items: Array<string> = Array.from(Object(pair), convert)
    const [key, value] = items
    if (key === undefined || value === undefined || items.length !== 2) {
      throw new TypeError(`${name} constructor: every pair must have a name and a value.`)
    }
    return [key, value]
  })
}

const readRecord = (init: object, convert: (value: unknown) => string): Iterable<[string, string]> => {
  const record = new Map<string, string>()
  for (const key of Reflect.ownKeys(init)) {
    if (Reflect.getOwnPropertyDescriptor(init, key)?.enumerable === true) {
      record.set(convert(key), convert(Reflect.get(init, key)))
    }
  }
  return record
}
