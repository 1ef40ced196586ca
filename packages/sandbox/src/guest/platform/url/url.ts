/** `URL`. */
import { brand, inspectCustom, requireArguments } from "../define.ts"
import { parseUrl } from "./parser.ts"
import { originOf, type UrlRecord, writeHost, writePath, writeUrl } from "./record.ts"
import { linkedParams, replaceParams, type URLSearchParams } from "./search-params.ts"
import * as Setters from "./setters.ts"

const parse = (url: unknown, base: unknown): UrlRecord | null => {
  if (base === undefined) {
    return parseUrl(String(url), null)
  }
  const record = parseUrl(String(base), null)
  return record === null ? null : parseUrl(String(url), record)
}

export class URL {
  #record: UrlRecord
  /** Created at the first access. */
  #params: URLSearchParams | null = null

  constructor(url: string | URL, base: string | URL | undefined = undefined) {
    requireArguments(arguments, 1, "URL")
    const record = parse(url, base)
    if (record === null) {
      // Without the input and the base: they may contain secrets.
      throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL" })
    }
    this.#record = record
  }

  static canParse(url: string | URL, base: string | URL | undefined = undefined): boolean {
    return parse(url, base) !== null
  }

  static parse(url: string | URL, base: string | URL | undefined = undefined): URL | null {
    return parse(url, base) === null ? null : new URL(url, base)
  }

  get href(): string {
    return writeUrl(this.#record)
  }
  set href(value: string) {
    const record = parseUrl(String(value), null)
    if (record === null) {
      throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL" })
    }
    this.#record = record
    this.#refreshParams()
  }

  get origin(): string {
    // The origin of a blob URL is the origin of the URL in its path.
    const inner = this.#record.scheme === "blob" ? parseUrl(writePath(this.#record), null) : null
    return inner !== null && /^https?$/.test(inner.scheme) ? originOf(inner) : originOf(this.#record)
  }

  get protocol(): string {
    return this.#record.scheme + ":"
  }
  set protocol(value: string) {
    Setters.setProtocol(this.#record, String(value))
  }

  get username(): string {
    return this.#record.username
  }
  set username(value: string) {
    Setters.setUsername(this.#record, String(value))
  }

  get password(): string {
    return this.#record.password
  }
  set password(value: string) {
    Setters.setPassword(this.#record, String(value))
  }

  get host(): string {
    return writeHost(this.#record)
  }
  set host(value: string) {
    Setters.setHost(this.#record, String(value), true)
  }

  get hostname(): string {
    return this.#record.host ?? ""
  }
  set hostname(value: string) {
    Setters.setHost(this.#record, String(value), false)
  }

  get port(): string {
    return this.#record.port === null ? "" : String(this.#record.port)
  }
  set port(value: string) {
    Setters.setPort(this.#record, String(value))
  }

  get pathname(): string {
    return writePath(this.#record)
  }
  set pathname(value: string) {
    Setters.setPathname(this.#record, String(value))
  }

  get search(): string {
    return this.#record.query ? "?" + this.#record.query : ""
  }
  set search(value: string) {
    Setters.setSearch(this.#record, String(value))
    this.#refreshParams()
  }

  get searchParams(): URLSearchParams {
    this.#params ??= linkedParams(this.#record.query, (query) => {
      this.#record.query = query === "" ? null : query
    })
    return this.#params
  }

  get hash(): string {
    return this.#record.fragment ? "#" + this.#record.fragment : ""
  }
  set hash(value: string) {
    Setters.setHash(this.#record, String(value))
  }

  toString(): string {
    return writeUrl(this.#record)
  }

  toJSON(): string {
    return writeUrl(this.#record)
  }

  [inspectCustom](): string {
    return `URL { href: ${JSON.stringify(this.href)} }`
  }

  #refreshParams(): void {
    if (this.#params !== null) {
      replaceParams(this.#params, this.#record.query)
    }
  }
}

brand({ URL })
