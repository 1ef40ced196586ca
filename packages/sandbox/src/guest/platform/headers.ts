/** `Headers`. */
import { brand, inspectCustom } from "./define.ts"
import { modules } from "./modules.ts"
import { definePairs, readPairs } from "./pairs.ts"

export type HeadersInit = Headers | Iterable<Iterable<string>> | Readonly<Record<string, string>>

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const normalizeName = (name: unknown): string => {
  const text = String(name)
  if (!token.test(text)) {
    throw new TypeError(`Headers: ${JSON.stringify(text)} is an invalid header name.`)
  }
  return text.toLowerCase()
}

/** Validates and trims a value. Values may be secrets, so the error does not quote them. */
const normalizeValue = (name: string, value: unknown): string => {
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "")
  if (/[\0\n\r]|[^\0-\xff]/.test(text)) {
    throw new TypeError(`Headers: the value of ${name} is invalid.`)
  }
  return text
}

const toByteString = (value: unknown): string => {
  const text = `${value}`
  if (/[^\0-\xff]/.test(text)) {
    throw new TypeError("Headers constructor: a name or value has a character above U+00FF.")
  }
  return text
}

let freeze: (headers: Headers) => Headers

/** Returns the pair at an index, sorted by name, with a separate pair per cookie. */
let pairAt: (headers: Headers, index: number) => readonly [string, string] | undefined

export class Headers {
  declare readonly entries: () => IterableIterator<[string, string]>
  declare readonly keys: () => IterableIterator<string>
  declare readonly values: () => IterableIterator<string>
  declare readonly forEach: (callback: (value: string, name: string, object: Headers) => void, self?: unknown) => void
  declare readonly [Symbol.iterator]: () => IterableIterator<[string, string]>
  /** Values by lower-case name. Only Set-Cookie has more than one. */
  readonly #values = new Map<string, Array<string>>()
  /** Cache of the sorted entries, cleared by every change. */
  #order: Array<[string, string]> | null = null
  #immutable = false

  static {
    pairAt = (headers, index) => headers.#sorted()[index]
    freeze = (headers) => {
      headers.#immutable = true
      return headers
    }
  }

  constructor(init: HeadersInit | undefined = undefined) {
    if (init === undefined) {
      return
    }
    if ((typeof init !== "object" && typeof init !== "function") || init === null) {
      throw new TypeError("Headers constructor: the argument is neither a sequence nor a record.")
    }
    for (const [name, value] of readPairs(init, toByteString, "Headers")) {
      this.append(name, value)
    }
  }

  append(name: string, value: string): void {
    const key = this.#writable(name)
    const text = normalizeValue(key, value)
    const existing = this.#values.get(key)
    if (existing === undefined) {
      this.#values.set(key, [text])
    } else if (key === "set-cookie") {
      existing.push(text)
    } else {
      // A cookie header is joined with semicolons, all others with commas.
      existing[0] = `${existing[0]}${key === "cookie" ? "; " : ", "}${text}`
    }
  }

  delete(name: string): void {
    this.#values.delete(this.#writable(name))
  }

  get(name: string): string | null {
    return this.#values.get(normalizeName(name))?.join(", ") ?? null
  }

  getSetCookie(): Array<string> {
    return [...(this.#values.get("set-cookie") ?? [])]
  }

  has(name: string): boolean {
    return this.#values.has(normalizeName(name))
  }

  set(name: string, value: string): void {
    const key = this.#writable(name)
    this.#values.set(key, [normalizeValue(key, value)])
  }

  [inspectCustom](): string {
    return `Headers ${modules.inspect().inspect(Object.fromEntries(this.#sorted()))}`
  }

  #sorted(): Array<[string, string]> {
    this.#order ??= [...this.#values]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, values]) => values.map((value): [string, string] => [name, value]))
    return this.#order
  }

  #writable(name: string): string {
    if (this.#immutable) {
      throw new TypeError("Headers: these headers are immutable.")
    }
    this.#order = null
    return normalizeName(name)
  }
}

brand({ Headers })
definePairs("Headers", Headers.prototype, pairAt)

export { freeze }
