/** `URLSearchParams`, and its form encoding. */
import { brand, inspectCustom } from "../define.ts"
import { definePairs, readPairs } from "../pairs.ts"
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

const text = (value: unknown): string => `${value}`.toWellFormed()

type Init = string | Iterable<Iterable<string>> | Readonly<Record<string, string>> | undefined

const toPairs = (init: Init): Array<Pair> => {
  if (init === undefined || init === null) {
    return []
  }
  if (typeof init !== "object" && typeof init !== "function") {
    return parseForm(String(init).replace(/^\?/, ""))
  }
  return [...readPairs(init, text, "URLSearchParams")]
}

/** Returns the parameters of a URL. `changed` is called after every change made through them. */
let linkedParams: (query: string | null, changed: (query: string) => void) => URLSearchParams
let replaceParams: (params: URLSearchParams, query: string | null) => void

let pairAt: (params: URLSearchParams, index: number) => Pair | undefined

export class URLSearchParams {
  declare readonly entries: () => IterableIterator<[string, string]>
  declare readonly keys: () => IterableIterator<string>
  declare readonly values: () => IterableIterator<string>
  declare readonly forEach: (
    callback: (value: string, name: string, object: URLSearchParams) => void,
    self?: unknown
  ) => void
  declare readonly [Symbol.iterator]: () => IterableIterator<[string, string]>
  #pairs: Array<Pair>
  #changed: ((query: string) => void) | null = null

  static {
    pairAt = (params, index) => params.#pairs[index]
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

  constructor(init: Init = undefined) {
    this.#pairs = toPairs(init)
  }

  get size(): number {
    return this.#pairs.length
  }

  append(name: string, value: string): void {
    this.#pairs.push([text(name), text(value)])
    this.#update(this.#pairs)
  }

  delete(name: string, value: string | undefined = undefined): void {
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

  has(name: string, value: string | undefined = undefined): boolean {
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
definePairs("URLSearchParams", URLSearchParams.prototype, pairAt)

export { linkedParams, replaceParams }
