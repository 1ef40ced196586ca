/** The socket of `node:net`, over a connection of the host. */
import { Buffer } from "node:buffer"
import { Duplex } from "node:stream"
import { notInFunctions } from "../refuse.ts"
import { isIP } from "./addresses.ts"
import { binding, type Connection, type TlsOptions, type TlsSession } from "./Binding.ts"
import { SocketError, toSocketError } from "./errors.ts"

export interface ConnectOptions {
  readonly host?: string | undefined
  readonly port?: number | string | undefined
  readonly path?: string | undefined
  readonly timeout?: number | undefined
  readonly allowHalfOpen?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

type Listener = () => void
export type ConnectArguments = ReadonlyArray<ConnectOptions | number | string | Listener | null | undefined>

/** Returns the options of `connect(options)`, `connect(port, host)` and `connect(path)`, and the listener. */
export const parseArguments = (given: ConnectArguments): readonly [ConnectOptions, Listener | undefined] => {
  const listener = given.find((each) => typeof each === "function")
  const [first, second] = given
  if (typeof first === "object" && first !== null) return [first, listener]
  if (typeof first === "string" && !/^\d+$/.test(first)) return [{ path: first }, listener]
  return [
    {
      port: typeof first === "function" || first === null ? undefined : first,
      host: typeof second === "string" ? second : undefined
    },
    listener
  ]
}

const closedBefore = (): SocketError =>
  new SocketError("This socket has been ended by the other party", "EPIPE", "write")

export class Socket extends Duplex {
  connecting = false
  bytesRead = 0
  bytesWritten = 0
  timeout = 0
  remoteAddress: string | undefined
  remotePort: number | undefined
  remoteFamily: string | undefined
  readonly localAddress = undefined
  readonly localPort = undefined
  readonly bufferSize = 0
  #connection: Connection | null = null
  /** Another socket has taken the connection, for TLS. */
  #isTaken = false
  #isReading = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: ConnectOptions = {}) {
    super({ allowHalfOpen: options?.allowHalfOpen ?? false, autoDestroy: true, emitClose: true })
    options?.signal?.addEventListener("abort", () => this.destroy(new Error("The operation was aborted")))
  }

  connect(...given: ConnectArguments): this {
    const [options, listener] = parseArguments(given)
    if (options.path !== undefined) throw notInFunctions("net.connect to a path", "use a host and a port")
    if (listener !== undefined) this.once("connect", listener)
    const port = Number(options.port)
    if (!(Number.isInteger(port) && port > 0 && port < 65_536)) {
      throw Object.assign(new RangeError(`Port should be > 0 and < 65536. Received ${String(options.port)}.`), {
        code: "ERR_SOCKET_BAD_PORT"
      })
    }
    if (options.timeout !== undefined) this.setTimeout(options.timeout)
    void this.#open(options.host ?? "localhost", port)
    return this
  }

  async #open(host: string, port: number): Promise<void> {
    this.connecting = true
    try {
      const connection = new (binding().Connection)(() => this.#lose())
      this.#connection = connection
      const session = await connection.open(host, port, this.tlsOptions(host))
      if (this.destroyed) return
      this.remoteAddress = isIP(host) === 0 ? undefined : host
      this.remotePort = port
      this.remoteFamily = isIP(host) === 6 ? "IPv6" : "IPv4"
      this.begin(session)
    } catch (error) {
      this.connecting = false
      this.destroy(toSocketError(error, "connect"))
    }
  }

  /** TLS from the start, or null. */
  protected tlsOptions(_host: string): TlsOptions | null {
    return null
  }

  /** Reports the connection, and starts to read. */
  protected begin(_session: TlsSession | null): void {
    this.connecting = false
    this.#touch()
    this.emit("connect")
    this.emit("ready")
    if (this.#isReading) void this.#pump()
  }

  /** Takes the connection of another socket, and starts TLS on it. */
  protected async takeOver(other: Socket, tls: TlsOptions): Promise<void> {
    this.connecting = true
    try {
      if (other.connecting) await new Promise((resolve) => other.once("connect", resolve))
      const connection = other.#connection
      if (connection === null || other.destroyed) throw closedBefore()
      other.#isTaken = true
      this.#connection = connection
      // As in Node, each ends with the other: clients wait for the end of the one that they opened.
      other.once("close", () => this.destroy())
      this.once("close", () => other.destroy())
      other.#onLost = () => this.#lose()
      this.remoteAddress = other.remoteAddress
      this.remotePort = other.remotePort
      this.remoteFamily = other.remoteFamily
      const session = await connection.startTls(tls)
      if (!this.destroyed) this.begin(session)
    } catch (error) {
      this.connecting = false
      this.destroy(toSocketError(error, "connect"))
    }
  }

  #onLost: (() => void) | undefined

  /** The run has ended, and with it the connection. A pool of the isolate must not use it in the next run. */
  #lose(): void {
    this.#onLost?.()
    this.destroy(new SocketError("The connection ended with the run that opened it", "ECONNRESET", "read"))
  }

  override _read(): void {
    if (this.#isReading) return
    this.#isReading = true
    if (!this.connecting && this.#connection !== null) void this.#pump()
  }

  /** Reads until the stream wants no more. */
  async #pump(): Promise<void> {
    const connection = this.#connection
    if (connection === null) return
    try {
      while (!this.#isTaken) {
        const bytes = await connection.read()
        if (this.#isTaken || this.destroyed) return
        this.#touch()
        if (bytes === null) {
          this.#isReading = false
          this.push(null)
          return
        }
        this.bytesRead += bytes.length
        if (bytes.length > 0 && !this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))) {
          this.#isReading = false
          return
        }
      }
    } catch (error) {
      if (!this.#isTaken) this.destroy(toSocketError(error, "read"))
    }
  }

  override _write(chunk: Uint8Array | string, encoding: BufferEncoding, done: (error?: Error) => void): void {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk
    this.#whenOpen((connection) => connection.write(bytes, false), done, bytes.length)
  }

  override _writev(
    chunks: Array<{ chunk: Uint8Array | string; encoding: BufferEncoding }>,
    done: (error?: Error) => void
  ): void {
    const all = Buffer.concat(
      chunks.map(({ chunk, encoding }) => (typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk))
    )
    this.#whenOpen((connection) => connection.write(all, false), done, all.length)
  }

  override _final(done: (error?: Error) => void): void {
    if (this.#connection === null && !this.connecting) done()
    else this.#whenOpen((connection) => connection.write(new Uint8Array(), true), done, 0)
  }

  #whenOpen(act: (connection: Connection) => Promise<void>, done: (error?: Error) => void, length: number): void {
    if (this.connecting) {
      this.once("connect", () => this.#whenOpen(act, done, length))
      return
    }
    const connection = this.#connection
    if (connection === null) {
      done(closedBefore())
      return
    }
    act(connection).then(
      () => {
        this.bytesWritten += length
        this.#touch()
        done()
      },
      (error: unknown) => done(toSocketError(error, "write"))
    )
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer)
    if (!this.#isTaken) this.#connection?.close()
    this.connecting = false
    done(error)
  }

  /** Emits `timeout` after this time without bytes, in milliseconds. */
  setTimeout(ms: number, listener?: Listener): this {
    this.timeout = ms
    if (listener !== undefined) {
      if (ms === 0) this.off("timeout", listener)
      else this.once("timeout", listener)
    }
    this.#touch()
    return this
  }

  #touch(): void {
    clearTimeout(this.#timer)
    if (this.timeout > 0 && !this.destroyed) this.#timer = setTimeout(() => this.emit("timeout"), this.timeout)
  }

  get pending(): boolean {
    return this.#connection === null || this.connecting
  }

  get readyState(): string {
    if (this.connecting) return "opening"
    if (this.readable && this.writable) return "open"
    return this.readable ? "readOnly" : this.writable ? "writeOnly" : "closed"
  }

  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  address(): object {
    return {}
  }
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once("finish", () => this.destroy())
  }
  resetAndDestroy(): this {
    return this.destroy()
  }
}
