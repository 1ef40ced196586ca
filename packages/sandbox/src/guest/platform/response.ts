/** `Response`. */
import { Body, type BodyInit, receive, type Source } from "./body.ts"
import { brand, inspectCustom } from "./define.ts"
import { freeze, Headers, type HeadersInit } from "./headers.ts"
import { modules } from "./modules.ts"
import { URL } from "./url/url.ts"

export interface ResponseInit {
  readonly status?: number
  readonly statusText?: string
  readonly headers?: HeadersInit
}

export const withoutBody: ReadonlyArray<number> = [101, 103, 204, 205, 304]
const redirects = [301, 302, 303, 307, 308]

const parseStatus = (given: number | undefined): number => {
  const status = given === undefined ? 200 : Math.trunc(Number(given))
  if (!(status >= 200 && status <= 599)) {
    throw new RangeError(`Response constructor: the status ${status} is not in the range from 200 to 599.`)
  }
  return status
}

const parseStatusText = (given: string | undefined): string => {
  const text = given === undefined ? "" : String(given)
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) {
    throw new TypeError("Response constructor: the status text is invalid.")
  }
  return text
}

/** Head of a response from the host. */
export interface Fetched {
  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly redirected: boolean
  readonly headers: HeadersInit
}

let fetched: (head: Fetched, source: Source | null) => Response

export class Response extends Body {
  #status: number
  #statusText: string
  readonly #headers: Headers
  #type = "default"
  #url = ""
  #redirected = false

  static {
    fetched = (head, source) => {
      const response = new Response(null, { headers: head.headers })
      // Servers may send a status that the constructor rejects.
      response.#status = head.status
      response.#statusText = head.statusText
      response.#type = "basic"
      response.#url = head.url
      response.#redirected = head.redirected
      freeze(response.#headers)
      if (source !== null) {
        receive(response, source)
      }
      return response
    }
  }

  constructor(body: BodyInit | null = null, init: ResponseInit = {}) {
    super()
    this.#status = parseStatus(init?.status)
    this.#statusText = parseStatusText(init?.statusText)
    this.#headers = new Headers(init?.headers)
    if (body === null || body === undefined) {
      return
    }
    if (withoutBody.includes(this.#status)) {
      throw new TypeError(`Response constructor: Invalid response status code ${this.#status}`)
    }
    this.setBody(body)
  }

  static error(): Response {
    const response = new Response()
    response.#status = 0
    response.#type = "error"
    freeze(response.#headers)
    return response
  }

  static redirect(url: string | URL, status: number = 302): Response {
    const location = new URL(url).href
    if (!redirects.includes(Number(status))) {
      throw new RangeError(`Response.redirect: ${status} is not the status of a redirect.`)
    }
    const response = new Response(null, { status, headers: { location } })
    freeze(response.#headers)
    return response
  }

  static json(data: unknown, init: ResponseInit = {}): Response {
    const text: unknown = JSON.stringify(data)
    if (typeof text !== "string") {
      throw new TypeError("Response.json: the value is not JSON serializable.")
    }
    const headers = new Headers(init?.headers)
    if (!headers.has("content-type")) {
      headers.set("content-type", "application/json")
    }
    return new Response(text, { ...init, headers })
  }

  get status(): number {
    return this.#status
  }
  get statusText(): string {
    return this.#statusText
  }
  get ok(): boolean {
    return this.#status >= 200 && this.#status <= 299
  }
  get headers(): Headers {
    return this.#headers
  }
  get type(): string {
    return this.#type
  }
  get url(): string {
    return this.#url
  }
  get redirected(): boolean {
    return this.#redirected
  }

  clone(): Response {
    const clone = new Response(null, { headers: this.#headers })
    clone.#status = this.#status
    clone.#statusText = this.#statusText
    clone.#type = this.#type
    clone.#url = this.#url
    clone.#redirected = this.#redirected
    this.shareBody(clone)
    return clone
  }

  [inspectCustom](): string {
    const { status, statusText, headers } = this
    return `Response ${modules.inspect().inspect({ status, statusText, headers })}`
  }
}

export { fetched }

brand({ Response })
