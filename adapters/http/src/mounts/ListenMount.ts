/** Weft as a standalone server. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Server as HttpsServer } from "node:https"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { HttpOptions } from "../app/HttpOptions.ts"
import { type Failure, failureResponse, internal } from "../responses/Failure.ts"
import { type Bound, bindServer } from "./AcceptQueues.ts"
import { makeBodyTimeout } from "./BodyTimeout.ts"
import { type ConnectionLimits, limitConnections } from "./ConnectionLimits.ts"
import { continueOnRead } from "./ContinueOnRead.ts"
import { makeTlsServer, type TlsOptions } from "./DomainTls.ts"
import { watchHandshakes } from "./Handshakes.ts"
import type { CloseOptions, DrainOptions, WeftRuntime } from "./MountedApp.ts"
import { mountOnNode, type OwnMount } from "./NodeMount.ts"
import { headersMax, misdirectionFault, requestFault } from "./RequestFault.ts"

export interface ListenOptions extends HttpOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 8787; 0 picks a free one. */
  readonly port?: number
  /** Also terminates TLS for custom domains, with their certificates. By default a proxy terminates TLS. */
  readonly tls?: TlsOptions
  /** Maximum pause of a body before its connection is closed, in milliseconds; default 60,000. */
  readonly bodyIdleMs?: number
  /** Maximum time in which the client reads no byte of a pending response, in milliseconds; default 60,000. */
  readonly sendIdleMs?: number
  /** Maximum time to receive the headers of a request, in milliseconds; default 60,000. */
  readonly headersMs?: number
  /** Maximum connections per port; default 10,000. Further ones are closed. */
  readonly connections?: number
  /** Maximum connections from one address. No limit by default, because all connections of a proxy share its address. */
  readonly connectionsPerAddress?: number
}

export interface Listening {
  readonly host: string
  readonly port: number
  /** `http://host:port`, without a slash at the end. */
  readonly url: string
  /** The port for TLS, if any. */
  readonly tlsPort: number | null
  /**
   * Prepares for `close`. `/readyz` returns 503, subscriptions end, and connections are not kept alive. After a while, new
   * requests get 503. Resolves when the requests in flight have finished.
   */
  readonly drain: (options?: DrainOptions) => Promise<void>
  /** Stops accepting connections, waits for requests to finish, then closes every connection. */
  readonly close: (options?: CloseOptions) => Promise<void>
}

/** Longer than the idle timeout of common load balancers, because the balancer must close first. In milliseconds. */
const keepAliveTimeout = 65_000

/** Maximum duration of a request that is no file transfer, in milliseconds. */
const requestMs = 300_000

/** Maximum bytes of the names and values of a request's headers. */
const headerBytesMax = 16 * 1024

/** Listens when Weft is ready, so that no request waits for the start. Rejects if it cannot bind the address. */
export const listen = async (weft: WeftRuntime, options: ListenOptions = {}): Promise<Listening> => {
  const { host = "127.0.0.1", port = 8787, tls, bodyIdleMs = 60_000, headersMs = 60_000, ...more } = options
  const { sendIdleMs = 60_000, connections = 10_000, connectionsPerAddress, ...rest } = more
  const bodyTimeout = makeBodyTimeout({ idleMs: bodyIdleMs, requestMs, onTimeout: abortRequest })
  const { trustProxy = false } = rest
  const own = mountOnNode(weft, rest, {
    onStart: bodyTimeout.watch,
    findFault: (request) => requestFault(request) ?? misdirectionFault(request, trustProxy)
  })
  const mounted = own.mount
  await mounted.ready.catch((error: unknown) => {
    bodyTimeout.close()
    throw error
  })
  const limits = { total: connections, perAddress: connectionsPerAddress ?? null, sendIdleMs }
  const serverOptions = makeServerOptions(headersMs)
  const server = attachMount(own, limits, createServer(serverOptions))
  const tlsServer = tls && attachMount(own, limits, makeTlsServer(await weft.runtime.context(), serverOptions))
  const endHandshakes = tlsServer && watchHandshakes(tlsServer)
  const bindings: Array<Bound> = []
  const bind = async (to: Server | HttpsServer, wanted: number): Promise<number> => {
    const bound = await bindServer(to, host, wanted)
    bindings.push(bound)
    return bound.port
  }
  const close = async (closeOptions?: CloseOptions): Promise<void> => {
    const stopping = bindings.map(({ stopAccepting }) => stopAccepting())
    await mounted.close(closeOptions)
    server.closeAllConnections()
    tlsServer?.closeAllConnections()
    endHandshakes?.()
    bodyTimeout.close()
    await Promise.all(stopping)
  }
  try {
    const boundPort = await bind(server, port)
    return {
      host,
      port: boundPort,
      url: `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}`,
      drain: mounted.drain,
      tlsPort: tlsServer === undefined || tls === undefined ? null : await bind(tlsServer, tls.port),
      close
    }
  } catch (error) {
    await close({ graceMs: 0 })
    throw error
  }
}

const makeServerOptions = (headersMs: number) => ({
  keepAliveTimeout,
  headersTimeout: headersMs,
  handshakeTimeout: headersMs,
  // Interval at which Node checks for late headers.
  connectionsCheckingInterval: Math.min(headersMs, 30_000),
  // `BodyTimeout` applies instead.
  requestTimeout: 0,
  // Weft checks `Host` itself, so that the error response has the envelope.
  requireHostHeader: false,
  // Overrides the process flag, because servers and proxies must agree where a request ends.
  insecureHTTPParser: false,
  maxHeaderSize: headerBytesMax
})

/** Connects the mount to the server's events. Rejects invalid requests in the error envelope. */
const attachMount = <S extends Server | HttpsServer>(
  { mount, accept, isAnswering }: OwnMount,
  limits: ConnectionLimits,
  server: S
): S => {
  /** Destroys the socket while a response is pending, because other bytes would corrupt that response. */
  const unlessAnswering = (socket: Duplex, send: () => void): void => {
    if (socket instanceof Socket && isAnswering(socket)) socket.destroy()
    else send()
  }
  server.maxHeadersCount = headersMax
  limitConnections(server, limits, isAnswering)
  server.on("connection", accept)
  server.on("request", mount)
  server.on("checkContinue", (request, response) => {
    continueOnRead(request, response)
    mount(request, response)
  })
  server.on("clientError", (error, socket) => unlessAnswering(socket, () => onClientError(error, socket)))
  server.on("checkExpectation", ({ socket }) =>
    unlessAnswering(socket, () => refuse(socket, "The header Expect contains an unsupported expectation"))
  )
  server.on("connect", (_request, socket) =>
    unlessAnswering(socket, () => refuse(socket, "This server is not a proxy"))
  )
  return server
}

/** Responds on the socket to input that Node's parser rejects, for which there is no request object. */
const onClientError = (error: Error & { readonly code?: string }, socket: Duplex): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const message =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "The headers are too large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? requestTimedOut
        : "This is not an HTTP request"
  refuse(socket, message)
}

const requestTimedOut = "The request did not arrive in time"

/** Closes the connection of a request whose body is late. This interrupts the request's handler. */
const abortRequest = ({ socket }: IncomingMessage, response: ServerResponse): void => {
  if (!response.headersSent) refuse(socket, requestTimedOut)
  socket.destroySoon()
}

const refuse = (socket: Socket | Duplex, message: string): void => {
  const failure: Failure = { ...internal, code: "bad_request", message }
  const { headers, body } = failureResponse(failure, crypto.randomUUID())
  const lines = Object.entries({ ...headers, connection: "close", "content-length": String(body.length) })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  socket.end(`HTTP/1.1 400 Bad Request\r\n${head}\r\n${body}`)
}
