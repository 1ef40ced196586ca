/** `WebSocket` and `CloseEvent`. The host has the connection, and its policy for requests applies. */
import type { HostCaller } from "../Bridge.ts"
import type { Blob as PlatformBlob } from "../platform/blob.ts"
import type { EventInit } from "../platform/events.ts"
import type { URL as PlatformUrl } from "../platform/url/url.ts"
import { MessageEvent } from "./messages.ts"
import { TaskQueue } from "./tasks.ts"

const { brand, defineConstants, requireArguments } = platform.define()
const { Event, EventTarget, HandlerSlot } = platform.events()
const { freshId, payloadCapacity, writeAll } = platform.hostBytes()
const { isBufferSource, copyBytes } = platform.bytes()
const { decodedLength, decodeInto } = platform.base64()
const { host } = platform.host()
const { URL } = platform.url()

const states = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 }

export interface CloseEventInit extends EventInit {
  readonly wasClean?: boolean
  readonly code?: number
  readonly reason?: string
}

export class CloseEvent extends Event {
  readonly #wasClean: boolean
  readonly #code: number
  readonly #reason: string

  constructor(type: string, init: CloseEventInit = {}) {
    requireArguments(arguments, 1, "CloseEvent")
    super(type, init)
    this.#wasClean = Boolean(init?.wasClean)
    this.#code = Number(init?.code ?? 0) & 0xffff
    this.#reason = init?.reason === undefined ? "" : `${init.reason}`.toWellFormed()
  }

  get wasClean(): boolean {
    return this.#wasClean
  }
  get code(): number {
    return this.#code
  }
  get reason(): string {
    return this.#reason
  }
}

/** Result of the host call `websocket.receive`. */
interface Received {
  readonly messages: ReadonlyArray<{ readonly binary: boolean; readonly data: string; readonly more: boolean }>
  readonly end: { readonly code: number; readonly reason: string; readonly clean: boolean } | null
}

/** As in Node, the second argument may be options instead of protocols. */
interface WebSocketInit {
  readonly protocols?: string | Iterable<string>
  /** Additional headers of the handshake. */
  readonly headers?: ConstructorParameters<ReturnType<typeof platform.headers>["Headers"]>[0]
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const syntaxError = (message: string): Error => new (platform.domException().DOMException)(message, "SyntaxError")

const parseUrl = (text: string): PlatformUrl => {
  const url = URL.parse(text)
  if (url === null) {
    throw syntaxError(`The URL of the WebSocket is invalid: ${text}`)
  }
  if (url.protocol === "http:" || url.protocol === "https:") {
    url.protocol = url.protocol === "http:" ? "ws:" : "wss:"
  }
  if (url.protocol !== "ws:" && url.protocol !== "wss:") {
    throw syntaxError(`The URL of a WebSocket must begin with ws: or wss: (got ${url.protocol})`)
  }
  if (url.hash !== "" || url.href.endsWith("#")) {
    throw syntaxError("The URL of a WebSocket must not contain a fragment")
  }
  return url
}

const parseProtocols = (given: string | Iterable<string>): ReadonlyArray<string> => {
  const protocols = typeof given === "string" ? [given] : Array.from(given, (each) => `${each}`)
  for (const [index, protocol] of protocols.entries()) {
    if (!token.test(protocol) || protocols.indexOf(protocol) !== index) {
      throw syntaxError(`The subprotocol of the WebSocket is invalid or repeated: ${protocol}`)
    }
  }
  return protocols
}

const isInit = (given: unknown): given is WebSocketInit =>
  typeof given === "object" && given !== null && !(Symbol.iterator in given)

const utf8 = (text: string): Uint8Array => new (platform.text().TextEncoder)().encode(text)

/** Maximum length of a close reason, in bytes. */
const reasonBytesMax = 123

type Data = string | ArrayBufferLike | ArrayBufferView | PlatformBlob

export class WebSocket extends EventTarget {
  readonly #id = freshId()
  readonly #url: PlatformUrl
  readonly #call: HostCaller | undefined
  readonly #tasks = new TaskQueue()
  readonly #onOpen = new HandlerSlot(this, "open")
  readonly #onMessage = new HandlerSlot(this, "message")
  readonly #onError = new HandlerSlot(this, "error")
  readonly #onClose = new HandlerSlot(this, "close")
  #state = states.CONNECTING
  #protocol = ""
  #binaryType: "blob" | "arraybuffer" = "blob"
  #bufferedAmount = 0
  /** Settles after the message that was sent last. */
  #sent: Promise<unknown> = Promise.resolve()
  /** Pieces of a message that is not complete. */
  #pieces: Array<string> = []

  constructor(url: string | PlatformUrl, protocols: string | Iterable<string> | WebSocketInit = []) {
    requireArguments(arguments, 1, "WebSocket")
    super()
    this.#url = parseUrl(`${url}`)
    const init = isInit(protocols) ? protocols : { protocols }
    const names = parseProtocols(init.protocols ?? [])
    const headers = [...new (platform.headers().Headers)(init.headers)]
    this.#call = host().caller()
    void this.#run(JSON.stringify({ id: this.#id, url: this.#url.href, protocols: names, headers }))
  }

  get url(): string {
    return this.#url.href
  }
  get readyState(): number {
    return this.#state
  }
  get protocol(): string {
    return this.#protocol
  }
  /** Always empty: the host negotiates no compression. */
  get extensions(): string {
    return ""
  }
  get bufferedAmount(): number {
    return this.#bufferedAmount
  }
  get binaryType(): string {
    return this.#binaryType
  }
  set binaryType(type: string) {
    if (type === "blob" || type === "arraybuffer") {
      this.#binaryType = type
    }
  }
  get onopen(): unknown {
    return this.#onOpen.get()
  }
  set onopen(handler: unknown) {
    this.#onOpen.set(handler)
  }
  get onmessage(): unknown {
    return this.#onMessage.get()
  }
  set onmessage(handler: unknown) {
    this.#onMessage.set(handler)
  }
  get onerror(): unknown {
    return this.#onError.get()
  }
  set onerror(handler: unknown) {
    this.#onError.set(handler)
  }
  get onclose(): unknown {
    return this.#onClose.get()
  }
  set onclose(handler: unknown) {
    this.#onClose.set(handler)
  }

  send(data: Data): void {
    if (this.#state === states.CONNECTING) {
      throw new (platform.domException().DOMException)("The WebSocket is not open yet", "InvalidStateError")
    }
    if (data instanceof platform.blob().Blob) {
      this.#enqueue(() => data.bytes(), data.size, true)
    } else {
      const isBinary = isBufferSource(data)
      const bytes = isBinary ? copyBytes(data) : utf8(`${data}`)
      this.#enqueue(async () => bytes, bytes.length, isBinary)
    }
  }

  close(...[code, reason]: readonly [code?: number, reason?: string]): void {
    const given = code === undefined ? null : toUint16(code)
    if (given !== null && given !== 1000 && (given < 3000 || given > 4999)) {
      throw new (platform.domException().DOMException)(
        `The close code must be 1000, or between 3000 and 4999 (got ${given})`,
        "InvalidAccessError"
      )
    }
    const text = reason === undefined ? "" : `${reason}`.toWellFormed()
    if (utf8(text).length > reasonBytesMax) {
      throw syntaxError(`The close reason must have at most ${reasonBytesMax} bytes`)
    }
    if (this.#state >= states.CLOSING) {
      return
    }
    const wasOpen = this.#state === states.OPEN
    this.#state = states.CLOSING
    if (!wasOpen) {
      this.#tasks.add(() => this.#fail())
      return
    }
    const payload = JSON.stringify({ id: this.#id, code: given ?? (text === "" ? null : 1000), reason: text })
    // After the messages that were sent before.
    void this.#sent.then(() => this.#call?.("websocket.close", payload)).catch(() => undefined)
  }

  async #run(head: string): Promise<void> {
    // Listeners are added after the constructor.
    await undefined
    try {
      const call = this.#call
      if (call === undefined) {
        throw new TypeError("no run is in progress")
      }
      const { protocol }: { readonly protocol: string } = JSON.parse(await call("websocket.open", head))
      if (this.#state !== states.CONNECTING) {
        return
      }
      this.#state = states.OPEN
      this.#protocol = protocol
      this.dispatchEvent(new Event("open"))
      await this.#receive(call)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #receive(call: HostCaller): Promise<void> {
    while (this.#state !== states.CLOSED) {
      const { messages, end }: Received = JSON.parse(await call("websocket.receive", `{"id":${this.#id}}`))
      for (const { binary, data, more } of messages) {
        this.#pieces.push(data)
        if (!more) {
          const whole = this.#pieces.join("")
          this.#pieces = []
          this.#deliver(binary ? this.#toBinary(whole) : whole)
          await continuations()
        }
      }
      if (end !== null) {
        this.#end(end.code, end.reason, end.clean)
      }
    }
  }

  #deliver(data: unknown): void {
    // As in browsers: a message that arrives after `close()` is delivered, one after the end is not.
    if (this.#state !== states.CLOSED) {
      this.dispatchEvent(new MessageEvent("message", { data, origin: this.#url.origin }))
    }
  }

  #toBinary(base64: string): ArrayBuffer | PlatformBlob {
    const bytes = new Uint8Array(decodedLength(base64))
    decodeInto(base64, bytes, 0)
    return this.#binaryType === "blob" ? new (platform.blob().Blob)([bytes]) : bytes.buffer
  }

  #enqueue(read: () => Promise<Uint8Array>, length: number, isBinary: boolean): void {
    this.#bufferedAmount += length
    if (this.#state !== states.OPEN) {
      return
    }
    this.#sent = this.#sent.then(async () => {
      try {
        await this.#write(await read(), isBinary)
        this.#bufferedAmount -= length
      } catch (error) {
        if (this.#state === states.OPEN) {
          this.#fail(error)
        }
      }
    })
  }

  async #write(bytes: Uint8Array, isBinary: boolean): Promise<void> {
    const call = this.#call
    if (call === undefined || this.#state === states.CLOSED) {
      return
    }
    await writeAll(bytes, Math.max(payloadCapacity(0), 3), true, async (base64, done) => {
      await call("websocket.send", `{"id":${this.#id},"binary":${isBinary},"bytes":"${base64}","more":${!done}}`)
      return true
    })
  }

  /** Ends a connection that failed. The error event carries the reason as `message`, as in Node. */
  #fail(error?: unknown): void {
    if (this.#state === states.CLOSED) {
      return
    }
    this.#state = states.CLOSED
    void this.#call?.("websocket.cancel", `{"id":${this.#id}}`).catch(() => undefined)
    const message = error instanceof Error ? error.message : "the WebSocket was closed before it was open"
    this.dispatchEvent(new (platform.errorEvents().ErrorEvent)("error", { message, error }))
    this.dispatchEvent(new CloseEvent("close", { code: 1006 }))
  }

  #end(code: number, reason: string, wasClean: boolean): void {
    if (this.#state === states.CLOSED) {
      return
    }
    this.#state = states.CLOSED
    if (!wasClean) {
      this.dispatchEvent(new (platform.errorEvents().ErrorEvent)("error", { message: "the connection was lost" }))
    }
    this.dispatchEvent(new CloseEvent("close", { code, reason, wasClean }))
  }
}

/** Lets promises continue that a listener resolved, so that it can listen to the next message. */
const continuations = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) {
    await undefined
  }
}

/** Converts to a 16-bit number as Web IDL does with `[Clamp]`. */
const toUint16 = (value: unknown): number => {
  const number = Number(value)
  return Number.isNaN(number) ? 0 : Math.round(Math.min(Math.max(number, 0), 65_535))
}

defineConstants(WebSocket, states)
defineConstants(WebSocket.prototype, states)
brand({ WebSocket, CloseEvent })
