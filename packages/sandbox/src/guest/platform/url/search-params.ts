/** `URLSearchParams`, and its form encoding. */
import { brand, inspectCustom } from "../define.ts"
import { formSet, percentDecode, percentEncode } from "./percent.ts"

type Pair = readonly [name: string, value: string]

export const parseForm = (text: string): Array<Pair> =>
  text
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const equals = part.indexOf("=")
      const name = equals < 0 ? part : part.slice(0, equals)
      const value = equals < 0 ? "" : part.slice(equals + 1)
      return [unescape(name), unescape(value)]
    })

const unescape = (text: string): string => percentDecode(text.replace(/\+/g, " ").toWellFormed())

const escape = (text: string): string => percentEncode(text, formSet).replace(/%20/g, "+")

const writeForm = (pairs: ReadonlyArray<Pair>): string =>
  pairs.map(([name, value]) => `${escape(name)}=${escape(value)}`).join("&")

const text = (value: unknown): string => String(value).toWellFormed()

type Init = string | Iterable<Iterable<string>> | Readonly<Record<string, string>> | undefined

const toPairs = (init: Init): Array<Pair> => {
  if (init === undefined || init === null) {
    return []
  }
  if (typeof init !== "object" && typeof init !== "function") {
    return parseForm(String(init).replace(/^\?/, ""))
  }
  if (!(Symbol.iterator in init)) {
    return Reflect.ownKeys(init)
      .filter((key) => Object.prototype.propertyIsEnumerable.call(init, key))
      .map((key) => [text(key), text(Reflect.get(init, key))])
  }
  return Array.from(init, (pair) => {
    const [name, value, ...more] = [...pair]
    if (name === undefined || value === undefined || more.length > 0) {
      throw new TypeError("URLSearchParams constructor: every pair must have a name and a value.")
    }
    return [text(name), text(value)]
  })
}

/** Returns the parameters of a URL. `changed` is called after every change made through them. */
let linkedParams: (query: string | null, changed: (query: string) => void) => URLSearchParams
let replaceParams: (params: URLSearchParams, query: string | null) => void

export class URLSearchParams {
  #pairs: Array<Pair>
  #changed: ((query: string) => void) | null = null

  static {
    linkedParams = (query, changed) => {
      const params = new URLSearchParams()
      params.#pairs = parseForm(query ?? "")
      params.#changed = changed
      return params
    }
    replaceParams = (params, query) => {
      params.#pairs = parseForm(query ?? "")
    }
  }

  constructor(init?: Init) {
    this.#pairs = toPairs(init)
  }

  get size(): number {
    return this.#pairs.length
  }

  append(name: string, value: string): void {
    this.#pairs.push([text(name), text(value)])
    this.#update(this.#pairs)
  }

  delete(name: string, value?: string): void {
    const key = text(name)
    const only = value === undefined ? undefined : text(value)
    this.#update(this.#pairs.filter((pair) => pair[0] !== key || (only !== undefined && pair[1] !== only)))
  }

  get(name: string): string | null {
    const key = text(name)
    return this.#pairs.find((pair) => pair[0] === key)?.[1] ?? null
  }

  getAll(name: string): Array<string> {
    const key = text(name)
    return this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1])
  }

  has(name: string, value?: string): boolean {
    const key = text(name)
    const only = value === undefined ? undefined : text(value)
    return this.#pairs.some((pair) => pair[0] === key && (only === undefined || pair[1] === only))
  }

  set(name: string, value: string): void {
    const key = text(name)
    const index = this.#pairs.findIndex((pair) => pair[0] === key)
    if (index < 0) {
      this.append(name, value)
      return
    }
    const kept = this.#pairs.filter((pair, at) => at === index || pair[0] !== key)
    kept[index] = [key, text(value)]
    this.#update(kept)
  }

  sort(): void {
    // Ordered by UTF-16 units, as strings compare; equal names keep their order.
    this.#update(this.#pairs.toSorted((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)))
  }

  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    if (typeof callback !== "function") {
      throw new TypeError("URLSearchParams.forEach: the callback is not a function.")
    }
    for (const [name, value] of this.#each()) {
      callback.call(self, value, name, this)
    }
  }

  entries(): IterableIterator<[string, string]> {
    return this.#each()
  }

  /** Iterates over the pairs, also in a subclass that replaces `entries`. */
  *#each(): IterableIterator<[string, string]> {
    // By index, so that the iteration includes changes.
    for (let index = 0; index < this.#pairs.length; index++) {
      const pair = this.#pairs[index]
      if (pair !== undefined) {
        yield [pair[0], pair[1]]
      }
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.#each()) {
      yield name
    }
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.#each()) {
      yield value
    }
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#each()
  }

  toString(): string {
    return writeForm(this.#pairs)
  }

  [inspectCustom](): string {
    return `URLSearchParams { ${JSON.stringify(this.toString())} }`
  }

  #update(pairs: Array<Pair>): void {
    this.#pairs = pairs
    this.#changed?.(writeForm(pairs))
  }
}

brand({ URLSearchParams })

export { linkedParams, replaceParams }
