/** Connections of guest code that outlive one request: TCP sockets and WebSockets. Peers and guests are untrusted. */
import type { Effect } from "effect"
import type { EgressFailed, HeaderList } from "./Egress.ts"

export interface TlsOptions {
  /** Name for SNI and for the check of the certificate. Null: the host of the socket. */
  readonly serverName: string | null
  /** False accepts every certificate. */
  readonly verify: boolean
  /** Trusted authorities in PEM, instead of the default ones if there are any. */
  readonly authorities: ReadonlyArray<string>
  /** Names of application protocols (ALPN), the preferred one first. */
  readonly alpn: ReadonlyArray<string>
}

export interface TlsSession {
  /** The selected application protocol, or null. */
  readonly alpn: string | null
}

export interface SocketRequest {
  /** A name or an address; an IPv6 address with or without brackets. */
  readonly host: string
  readonly port: number
  /** Null: no TLS, until `startTls`. */
  readonly tls: TlsOptions | null
}

export interface SocketBytes {
  readonly bytes: Uint8Array
  /** True if the peer sends no more bytes. */
  readonly done: boolean
}

/** A connected TCP socket. It closes with the scope in which it was opened. */
export interface EgressSocket {
  /** Session of TLS from the start, or null. */
  readonly tls: TlsSession | null
  /** Waits for bytes and returns at most `bytesMax`. Returns none, and `done: false`, if `startTls` ends the wait. */
  readonly read: (bytesMax: number) => Effect.Effect<SocketBytes, EgressFailed>
  /** Completes when the operating system has accepted the bytes. */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, EgressFailed>
  /** Sends the end of the stream; reading continues. */
  readonly finish: Effect.Effect<void, EgressFailed>
  /** Continues with TLS. Fails if the peer sent bytes that were not read: they could be an injection before TLS. */
  readonly startTls: (options: TlsOptions) => Effect.Effect<TlsSession, EgressFailed>
}

export interface WebSocketRequest {
  /** Absolute, `ws` or `wss`. */
  readonly url: string
  readonly protocols: ReadonlyArray<string>
  /** Headers of the handshake, as in `EgressRequest`. Those of the WebSocket protocol are removed as well. */
  readonly headers: HeaderList
}

export interface WebSocketMessage {
  readonly isBinary: boolean
  /** UTF-8 if the message is text. */
  readonly bytes: Uint8Array
}

/** End of a connection. The code is 1005 without a code, and 1006 if the connection was lost. */
export interface WebSocketEnd {
  readonly code: number
  readonly reason: string
  /** True after the closing handshake. */
  readonly isClean: boolean
}

/** An open WebSocket. It closes with the scope in which it was opened. It answers pings. */
export interface EgressWebSocket {
  /** The selected subprotocol, or empty. */
  readonly protocol: string
  /** Maximum size of a message, in bytes. */
  readonly messageBytes: number
  /** Waits for messages and returns at most about `bytesMax` bytes of them, at least one; or the end after the last. */
  readonly receive: (bytesMax: number) => Effect.Effect<ReadonlyArray<WebSocketMessage> | WebSocketEnd>
  /** Completes when the operating system has accepted the message. Messages after the end are dropped. */
  readonly send: (message: WebSocketMessage) => Effect.Effect<void, EgressFailed>
  /** Starts the closing handshake. Code null: without a code. */
  readonly close: (code: number | null, reason: string) => Effect.Effect<void>
}
