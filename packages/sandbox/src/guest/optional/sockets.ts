/** TCP sockets: `connect` as in Workers, and connections for the modules of Node. The host's policy and the plan apply. */
import type { HostCaller } from "../Bridge.ts"
import type { ReadableStream as Readable, WritableStream as Writable } from "../platform/streams.ts"

const { freshId, payloadCapacity, writeAll } = platform.hostBytes()
const { isBufferSource, copyBytes } = platform.bytes()
const { decodedLength, decodeInto } = platform.base64()
const { afterRun, stopTimer } = platform.timers()
const { host } = platform.host()
const { ReadableStream, WritableStream } = platform.streams()

export interface TlsOptions {
  readonly server_name: string | null
  readonly verify: boolean
  readonly authorities: ReadonlyArray<string>
  readonly alpn: ReadonlyArray<string>
}

export interface TlsSession {
  readonly alpn: string | null
}

const socketError = (reason: string): TypeError => new TypeError(`connect failed: ${reason}`)

/** A connection of the current run. Its methods are host calls. */
export class Connection {
  readonly #id = freshId()
  readonly #call: HostCaller
  readonly #timer: number
  #isClosed = false

  /** @param onRunEnd called if the run ends before the connection */
  constructor(onRunEnd: () => void) {
    const call = host().caller()
    if (call === undefined) {
      throw socketError("no run is in progress")
    }
    this.#call = call
    this.#timer = afterRun(() => {
      this.#isClosed = true
      onRunEnd()
    })
  }

  async open(hostname: string, port: number, tls: TlsOptions | null): Promise<TlsSession | null> {
    const payload = JSON.stringify({ id: this.#id, host: hostname, port, tls })
    return JSON.parse(await this.#request("socket.open", payload))
  }

  /** Waits for bytes. Returns none if TLS starts meanwhile, and null at the end of the stream. */
  async read(): Promise<Uint8Array | null> {
    const payload = `{"id":${this.#id},"max":${Math.floor(host().callBytes / 2)}}`
    const { bytes: text, done }: { readonly bytes: string; readonly done: boolean } = JSON.parse(
      await this.#request("socket.read", payload)
    )
    if (done) {
      return null
    }
    const bytes = new Uint8Array(decodedLength(text))
    decodeInto(text, bytes, 0)
    return bytes
  }

  /** Sends the bytes, which must not change meanwhile, and with `isLast` the end of the stream. */
  async write(bytes: Uint8Array, isLast: boolean): Promise<void> {
    await writeAll(bytes, Math.max(payloadCapacity(0), 3), isLast, async (base64, done) => {
      await this.#request("socket.write", `{"id":${this.#id},"bytes":"${base64}","done":${done}}`)
      return true
    })
  }

  async startTls(tls: TlsOptions): Promise<TlsSession> {
    return JSON.parse(await this.#request("socket.secure", JSON.stringify({ id: this.#id, tls })))
  }

  close(): void {
    if (!this.#isClosed) {
      this.#isClosed = true
      stopTimer(this.#timer)
      this.#call("socket.close", `{"id":${this.#id}}`).catch(() => undefined)
    }
  }

  async #request(op: string, payload: string): Promise<string> {
    if (this.#isClosed) {
      throw socketError("the connection is closed")
    }
    try {
      return await this.#call(op, payload)
    } catch (error) {
      throw error instanceof Error && error.name === "TypeError" ? socketError(error.message) : error
    }
  }
}

export interface SocketAddress {
  readonly hostname: string
  readonly port: number
}

export interface SocketOptions {
  readonly secureTransport?: "off" | "on" | "starttls"
  readonly allowHalfOpen?: boolean
}

export interface SocketInfo {
  readonly remoteAddress: string
  readonly localAddress: string | null
}

const defaultTls: TlsOptions = { server_name: null, verify: true, authorities: [], alpn: [] }

const toTls = (serverName: unknown): TlsOptions =>
  serverName === undefined || serverName === null ? defaultTls : { ...defaultTls, server_name: `${serverName}` }

const parseAddress = (given: string | SocketAddress): SocketAddress => {
  if (typeof given === "object") {
    return { hostname: `${given.hostname}`, port: Number(given.port) }
  }
  const [, hostname, port] = /^(.+):(\d{1,5})$/.exec(given) ?? []
  if (hostname === undefined) {
    throw new TypeError(`The address must be HOST:PORT (got ${given})`)
  }
  return { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) }
}

/** Start of a socket, over a new connection or over that of another socket. */
interface Start {
  readonly connection: Connection
  readonly opened: Promise<unknown>
  readonly address: SocketAddress
  readonly options: Required<SocketOptions>
}

class Socket {
  readonly readable: Readable<Uint8Array>
  readonly writable: Writable<unknown>
  readonly opened: Promise<SocketInfo>
  readonly closed: Promise<void>
  readonly secureTransport: "off" | "on" | "starttls"
  readonly #start: Start
  readonly #closed = Promise.withResolvers<void>()
  #isUpgraded = false

  constructor(start: Start) {
    const { connection, address, options } = start
    this.#start = start
    this.secureTransport = options.secureTransport
    this.closed = this.#closed.promise
    this.opened = start.opened.then(
      () => ({ remoteAddress: `${address.hostname}:${address.port}`, localAddress: null }),
      (error: unknown) => {
        this.#fail(error)
        throw error
      }
    )
    this.opened.catch(() => undefined)
    this.closed.catch(() => undefined)
    this.readable = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const bytes = await this.#attempt(() => this.#read())
          if (bytes !== null) {
            controller.enqueue(bytes)
            return
          }
          controller.close()
          if (!options.allowHalfOpen && !this.#isUpgraded) {
            await this.close()
          }
        },
        cancel: () => this.close()
      },
      { highWaterMark: 0 }
    )
    this.writable = new WritableStream<unknown>({
      write: (chunk) => this.#attempt(() => connection.write(toBytes(chunk), false)),
      close: () => this.#attempt(() => connection.write(new Uint8Array(), true)),
      abort: () => this.close()
    })
  }

  get upgraded(): boolean {
    return this.#isUpgraded
  }

  async close(): Promise<void> {
    if (!this.#isUpgraded) {
      this.#start.connection.close()
      this.#closed.resolve()
    }
  }

  /** Continues with TLS on a new socket; this one has no more streams. */
  startTls(options: { readonly expectedServerHostname?: string } = {}): Socket {
    if (this.secureTransport !== "starttls" || this.#isUpgraded) {
      throw new TypeError('startTls requires the option secureTransport: "starttls", and can be called once')
    }
    const { connection, address, options: given } = this.#start
    const opened = this.opened.then(() => connection.startTls(toTls(options?.expectedServerHostname)))
    this.#isUpgraded = true
    this.#closed.resolve()
    return new Socket({ connection, opened, address, options: { ...given, secureTransport: "on" } })
  }

  /** Returns bytes, or null at the end of the stream and after `startTls`. */
  async #read(): Promise<Uint8Array | null> {
    for (;;) {
      const bytes = this.#isUpgraded ? null : await this.#start.connection.read()
      if (bytes === null || bytes.length > 0) {
        return bytes
      }
    }
  }

  async #attempt<A>(act: () => Promise<A>): Promise<A> {
    try {
      await this.opened
      return await act()
    } catch (error) {
      this.#fail(error)
      throw error
    }
  }

  #fail(error: unknown): void {
    if (!this.#isUpgraded) {
      this.#start.connection.close()
      this.#closed.reject(error)
    }
  }
}

const toBytes = (chunk: unknown): Uint8Array => {
  if (!isBufferSource(chunk)) {
    throw new TypeError("A chunk of a socket must be an ArrayBuffer or a view of one")
  }
  return copyBytes(chunk)
}

/** Connects to a TCP server. Errors reject `opened` and `closed`. */
const connect = (address: string | SocketAddress, options: SocketOptions = {}): Socket => {
  const parsed = parseAddress(address)
  const { secureTransport = "off", allowHalfOpen = false } = options ?? {}
  if (!["off", "on", "starttls"].includes(secureTransport)) {
    throw new TypeError(`secureTransport must be "off", "on" or "starttls" (got ${String(secureTransport)})`)
  }
  const connection = new Connection(() => undefined)
  const opened = connection.open(parsed.hostname, parsed.port, secureTransport === "on" ? defaultTls : null)
  return new Socket({ connection, opened, address: parsed, options: { secureTransport, allowHalfOpen } })
}

export const binding = { connect, Connection }
