/** A request of `node:http`, sent by `fetch` when its body is complete. */
import { Buffer } from "node:buffer"
import { Writable } from "node:stream"
import { IncomingMessage } from "./IncomingMessage.ts"
import { Socket } from "./Socket.ts"
import { type HeaderValue, type RequestOptions, toUrl } from "./Target.ts"

/** Headers that `fetch` sets, or that belong to a connection. */
const ownHeaders = new Set([
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "transfer-encoding",
  "expect",
  "te",
  "upgrade"
])

const withoutBody = new Set(["GET", "HEAD"])

export class ClientRequest extends Writable {
  readonly method: string
  readonly path: string
  readonly host: string
  readonly protocol: string
  readonly agent: unknown
  readonly socket: Socket
  aborted = false
  reusedSocket = false
  res: IncomingMessage | undefined
  readonly #url: URL
  readonly #headers = new Map<string, { readonly name: string; readonly value: HeaderValue }>()
  readonly #chunks: Array<Uint8Array> = []
  readonly #abort = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: RequestOptions, protocol: string, listener?: (response: IncomingMessage) => void) {
    super({ autoDestroy: false })
    this.#url = toUrl(options, protocol)
    this.method = (options.method ?? "GET").toUpperCase()
    this.path = `${this.#url.pathname}${this.#url.search}`
    this.host = this.#url.hostname
    this.protocol = this.#url.protocol
    this.agent = options.agent
    this.socket = new Socket(this.protocol === "https:")
    this.#readHeaders(options)
    if (listener !== undefined) this.once("response", listener)
    if (options.timeout !== undefined) this.setTimeout(options.timeout)
    const { signal } = options
    if (signal?.aborted === true) queueMicrotask(() => this.destroy(abortError(signal)))
    else signal?.addEventListener("abort", () => this.destroy(abortError(signal)), { once: true })
    queueMicrotask(() => {
      this.emit("socket", this.socket)
      this.socket.emit("connect")
      if (this.socket.encrypted) this.socket.emit("secureConnect")
    })
  }

  get connection(): Socket {
    return this.socket
  }
  get headersSent(): boolean {
    return this.writableEnded
  }
  get finished(): boolean {
    return this.writableEnded
  }

  #readHeaders({ headers = {}, auth }: RequestOptions): void {
    if (Array.isArray(headers)) {
      for (let at = 0; at + 1 < headers.length; at += 2) this.setHeader(String(headers[at]), String(headers[at + 1]))
    } else {
      for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.setHeader(name, value)
    }
    if (auth !== undefined && auth !== null && !this.hasHeader("authorization")) {
      this.setHeader("Authorization", `Basic ${Buffer.from(auth).toString("base64")}`)
    }
  }

  setHeader(name: string, value: HeaderValue): this {
    this.#headers.set(name.toLowerCase(), { name, value })
    return this
  }
  appendHeader(name: string, value: HeaderValue): this {
    const before = this.getHeader(name)
    return this.setHeader(name, before === undefined ? value : [before, value].flat().map(String))
  }
  setHeaders(headers: Iterable<readonly [string, HeaderValue]>): this {
    for (const [name, value] of headers) this.setHeader(name, value)
    return this
  }
  getHeader(name: string): HeaderValue | undefined {
    return this.#headers.get(name.toLowerCase())?.value
  }
  getHeaders(): Record<string, HeaderValue> {
    return Object.fromEntries([...this.#headers].map(([name, { value }]) => [name, value]))
  }
  getHeaderNames(): Array<string> {
    return [...this.#headers.keys()]
  }
  getRawHeaderNames(): Array<string> {
    return [...this.#headers.values()].map(({ name }) => name)
  }
  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase())
  }
  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase())
  }
  flushHeaders(): void {}
  setNoDelay(): void {}
  setSocketKeepAlive(): void {}
  addTrailers(): void {}

  setTimeout(ms: number, listener?: () => void): this {
    clearTimeout(this.#timer)
    if (listener !== undefined) this.once("timeout", listener)
    if (ms > 0) this.#timer = setTimeout(() => this.emit("timeout"), ms)
    return this
  }

  abort(): void {
    this.aborted = true
    queueMicrotask(() => this.emit("abort"))
    this.destroy(Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }))
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }

  override _final(done: () => void): void {
    done()
    void this.#send()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer)
    this.#abort.abort(error ?? undefined)
    this.res?.destroy(error ?? undefined)
    done(error)
  }

  async #send(): Promise<void> {
    try {
      const response = await fetch(this.#url, this.#toInit())
      clearTimeout(this.#timer)
      if (this.destroyed) return
      const message = new IncomingMessage(this.socket).accept(response)
      Object.assign(message, { req: this, responseUrl: response.url })
      this.res = message
      message.once("close", () => {
        this.destroyed = true
        this.emit("close")
      })
      // Nobody reads the body of a response without a listener.
      if (!this.emit("response", message)) message.resume()
    } catch (error) {
      if (!this.destroyed) this.destroy(toNetworkError(error))
    }
  }

  #toInit(): RequestInit {
    const headers = new Headers()
    for (const [name, { value }] of this.#headers) {
      if (ownHeaders.has(name)) continue
      for (const each of [value].flat()) headers.append(name, String(each))
    }
    const { method } = this
    const hasBody = this.#chunks.length > 0 && !withoutBody.has(method)
    const body = hasBody ? new Uint8Array(Buffer.concat(this.#chunks)) : null
    return { method, headers, body, redirect: "manual", signal: this.#abort.signal }
  }
}

const abortError = (signal: AbortSignal): Error =>
  Object.assign(new Error("The operation was aborted", { cause: signal.reason }), {
    name: "AbortError",
    code: "ABORT_ERR"
  })

/** Clients decide by the code whether they retry. */
const toNetworkError = (error: unknown): Error => {
  if (!(error instanceof Error)) return new Error(String(error))
  return "code" in error ? error : Object.assign(error, { code: "ECONNREFUSED" })
}
