/** `Headers`. */
import { brand, inspectCustom } from "./define.ts"
import { modules } from "./modules.ts"

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

let freeze: (headers: Headers) => Headers

export class Headers {
  /** Values by lower-case name. Only Set-Cookie has more than one. */
  readonly #values = new Map<string, Array<string>>()
  /** Cache of the sorted entries, cleared by every change. */
  #order: Array<[string, string]> | null = null
  #immutable = false

  static {
    freeze = (headers) => {
      headers.#immutable = true
      return headers
    }
  }

  constructor(init?: HeadersInit) {
    if (init === undefined) {
      return
    }
    if ((typeof init !== "object" && typeof init !== "function") || init === null) {
      throw new TypeError("Headers constructor: the argument is neither a sequence nor a record.")
    }
    if (!(Symbol.iterator in init)) {
      for (const key of Reflect.ownKeys(init)) {
        if (Object.prototype.propertyIsEnumerable.call(init, key)) {
          this.append(String(key), Reflect.get(init, key))
        }
      }
      return
    }
    for (const pair of init) {
      const [name, value, ...more] = [...pair]
      if (name === undefined || value === undefined || more.length > 0) {
        throw new TypeError("Headers constructor: every header must have a name and a value.")
      }
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

  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    if (typeof callback !== "function") {
      throw new TypeError("Headers.forEach: the callback is not a function.")
    }
    for (const [name, value] of this) {
      callback.call(self, value, name, this)
    }
  }

  /** Returns the entries sorted by name, with a separate entry per cookie. */
  *entries(): IterableIterator<[string, string]> {
    for (let index = 0; ; index++) {
      // Includes changes during the iteration: the standard counts positions in the current list at each step.
      const entry = this.#sorted()[index]
      if (entry === undefined) {
        return
      }
      yield [...entry]
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) {
      yield name
    }
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) {
      yield value
    }
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries()
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

export { freeze }
