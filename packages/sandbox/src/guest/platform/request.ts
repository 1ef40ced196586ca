/** `Request`. */
import { AbortController, AbortSignal } from "./abort.ts"
import { Body, type BodyInit } from "./body.ts"
import { brand, inspectCustom, requireArguments } from "./define.ts"
import { Headers, type HeadersInit } from "./headers.ts"
import { modules } from "./modules.ts"
import { URL } from "./url/url.ts"

export interface RequestInit {
  readonly method?: string
  readonly headers?: HeadersInit
  readonly body?: BodyInit | null
  readonly redirect?: string
  readonly signal?: AbortSignal | null
  readonly referrer?: string
  readonly referrerPolicy?: string
  readonly mode?: string
  readonly credentials?: string
  readonly cache?: string
  readonly integrity?: string
  readonly keepalive?: boolean
  readonly duplex?: "half"
}

/** Options of `fetch` with their allowed values; the first is the default. */
const choices = {
  redirect: ["follow", "error", "manual"],
  referrerPolicy: [
    "",
    "no-referrer",
    "no-referrer-when-downgrade",
    "same-origin",
    "origin",
    "strict-origin",
    "origin-when-cross-origin",
    "strict-origin-when-cross-origin",
    "unsafe-url"
  ],
  mode: ["cors", "no-cors", "same-origin"],
  credentials: ["same-origin", "omit", "include"],
  cache: ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"]
} as const

type Choice = keyof typeof choices
type Options = Record<Choice | "integrity" | "referrer", string> & { keepalive: boolean }

const choose = (name: Choice, given: string | undefined, inherited: string | undefined): string => {
  if (given === undefined) {
    return inherited ?? choices[name][0]
  }
  const text = String(given)
  if (!choices[name].some((choice) => choice === text)) {
    throw new TypeError(`Request constructor: ${JSON.stringify(text)} is not a valid value for ${name}.`)
  }
  return text
}

const readOptions = (init: RequestInit, inherited: Options | undefined): Options => ({
  redirect: choose("redirect", init.redirect, inherited?.redirect),
  referrerPolicy: choose("referrerPolicy", init.referrerPolicy, inherited?.referrerPolicy),
  mode: choose("mode", init.mode, inherited?.mode),
  credentials: choose("credentials", init.credentials, inherited?.credentials),
  cache: choose("cache", init.cache, inherited?.cache),
  integrity: String(init.integrity ?? inherited?.integrity ?? ""),
  referrer: String(init.referrer ?? inherited?.referrer ?? "about:client"),
  keepalive: Boolean(init.keepalive ?? inherited?.keepalive ?? false)
})

const standardMethods = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]

const parseMethod = (given: string): string => {
  const upper = given.toUpperCase()
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(given)) {
    throw new TypeError(`Request constructor: ${JSON.stringify(given)} is not a valid HTTP method.`)
  }
  if (upper === "CONNECT" || upper === "TRACE" || upper === "TRACK") {
    throw new TypeError(`Request constructor: ${given} is not allowed as an HTTP method.`)
  }
  // Only these are normalized: "patch" stays in lower case, as in the standard.
  return standardMethods.includes(upper) ? upper : given
}

const parseUrl = (input: unknown): string => {
  const url = new URL(String(input))
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("Request constructor: the URL must not include credentials.")
  }
  return url.href
}

interface Parts {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly signal: AbortSignal
  readonly options: Options
}

export class Request extends Body {
  readonly #parts: Parts

  constructor(input: Request | URL | string, init: RequestInit = {}) {
    requireArguments(arguments, 1, "Request")
    super()
    const settings = init ?? {}
    const source = input instanceof Request ? input : null
    const inherited = source === null ? undefined : source.#parts
    const method = settings.method === undefined ? (inherited?.method ?? "GET") : parseMethod(String(settings.method))
    this.#parts = {
      url: inherited?.url ?? parseUrl(input),
      method,
      headers: new Headers(settings.headers ?? inherited?.headers),
      signal: follow(settings.signal === undefined ? inherited?.signal : settings.signal),
      options: readOptions(settings, inherited?.options)
    }
    const given = settings.body ?? null
    if ((given !== null || source?.hasBody === true) && (method === "GET" || method === "HEAD")) {
      throw new TypeError("Request with GET/HEAD method cannot have body.")
    }
    if (given !== null) {
      this.setBody(given)
    } else if (source !== null) {
      this.takeBody(source)
    }
  }

  get method(): string {
    return this.#parts.method
  }
  get url(): string {
    return this.#parts.url
  }
  get headers(): Headers {
    return this.#parts.headers
  }
  get signal(): AbortSignal {
    return this.#parts.signal
  }
  get redirect(): string {
    return this.#parts.options.redirect
  }
  get referrer(): string {
    return this.#parts.options.referrer
  }
  get referrerPolicy(): string {
    return this.#parts.options.referrerPolicy
  }
  get mode(): string {
    return this.#parts.options.mode
  }
  get credentials(): string {
    return this.#parts.options.credentials
  }
  get cache(): string {
    return this.#parts.options.cache
  }
  get integrity(): string {
    return this.#parts.options.integrity
  }
  get keepalive(): boolean {
    return this.#parts.options.keepalive
  }
  get destination(): string {
    return ""
  }
  get duplex(): string {
    return "half"
  }

  clone(): Request {
    const { url, method, headers, signal, options } = this.#parts
    const clone = new Request(url, { ...options, method, headers, signal })
    this.shareBody(clone)
    return clone
  }

  [inspectCustom](): string {
    const { method, url, headers } = this
    return `Request ${modules.inspect().inspect({ method, url, headers })}`
  }
}

/** Returns a new signal that depends on the given one. */
const follow = (signal: AbortSignal | null | undefined): AbortSignal => {
  if (signal === null || signal === undefined) {
    return new AbortController().signal
  }
  if (!(signal instanceof AbortSignal)) {
    throw new TypeError("Request constructor: the signal is not an AbortSignal.")
  }
  return AbortSignal.any([signal])
}

brand({ Request })
