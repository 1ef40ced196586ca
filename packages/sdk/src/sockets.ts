/** TCP sockets of functions, if the plan and the host's policy allow them. The interface is that of Workers. */

export interface SocketAddress {
  readonly hostname: string
  readonly port: number
}

export interface SocketOptions {
  /** `starttls` begins without TLS, until `startTls`. Default: `off`. */
  readonly secureTransport?: "off" | "on" | "starttls"
  /** True keeps the writable side open after the peer has ended. */
  readonly allowHalfOpen?: boolean
}

export interface SocketInfo {
  /** `HOST:PORT`, as given to `connect`. */
  readonly remoteAddress: string
  readonly localAddress: string | null
}

export interface Socket {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array | ArrayBuffer>
  /** Rejects with a `TypeError` that names the reason if the connection fails. */
  readonly opened: Promise<SocketInfo>
  readonly closed: Promise<void>
  readonly secureTransport: "off" | "on" | "starttls"
  readonly upgraded: boolean
  readonly close: () => Promise<void>
  /** Continues with TLS on a new socket. Requires `secureTransport: "starttls"`. */
  readonly startTls: (options?: { readonly expectedServerHostname?: string }) => Socket
}

interface Binding {
  readonly connect: (address: string | SocketAddress, options?: SocketOptions) => Socket
}

/** Connects to a TCP server: `connect("db.example.com:5432")`. The connection ends with the run. */
export const connect = (address: string | SocketAddress, options?: SocketOptions): Socket => {
  const binding: Binding | undefined = Reflect.get(globalThis, "weft:sockets")
  if (binding === undefined) throw new TypeError("connect: sockets exist only in functions on a server of Weft")
  return binding.connect(address, options)
}
