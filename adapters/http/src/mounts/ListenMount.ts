/** Weft as a server of its own. */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Server as HttpsServer } from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { type Failure, failureAnswer, internal } from "../answers/Failure.ts"
import type { HttpOptions } from "../app/HttpOptions.ts"
import { type BodyPatience, makeBodyPatience } from "./BodyPatience.ts"
import { type ConnectionLimits, limitConnections } from "./ConnectionLimits.ts"
import { continueOnRead } from "./ContinueOnRead.ts"
import { makeTlsServer, type TlsOptions } from "./DomainTls.ts"
import { type NodeMount, node } from "./NodeMount.ts"
import type { CloseOptions, DrainOptions, WeftRuntime } from "./Serving.ts"

export interface ListenOptions extends HttpOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 8787; 0 picks a free one. */
  readonly port?: number
  /** Also ends TLS for custom domains, with the certificates that were issued for them; by default a proxy does. */
  readonly tls?: TlsOptions
  /** How long a body may pause before its connection is closed, in milliseconds; default 60,000. */
  readonly bodyIdleMs?: number
  /** How long an answer may wait without its client taking a byte of it, in milliseconds; default 60,000. */
  readonly sendIdleMs?: number
  /** How long the headers of a request may take, in milliseconds; default 60,000. */
  readonly headersMs?: number
  /** Connections at once, for each port; those beyond are closed. Default 10,000. */
  readonly connections?: number
  /** Connections at once from one address; by default no limit, as behind a proxy all have the same. */
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
   * Sends clients elsewhere, before `close`: still answers, but says on `/readyz` that it is leaving, ends subscriptions,
   * keeps no connection and after a while refuses what is new. Resolves when the requests have finished.
   */
  readonly drain: (options?: DrainOptions) => Promise<void>
  /** Stops accepting, lets requests finish, then closes every connection. */
  readonly close: (options?: CloseOptions) => Promise<void>
}

/** Longer than the idle time of usual load balancers, which must be the ones to close. */
const keepAliveTimeout = 65_000

const requestMs = 300_000

/** Headers of a request; Node counts only the bytes of their names and values. */
const headersMax = 200
const headerBytesMax = 16 * 1024

/** Listens once Weft answers, so that no request waits for the start. Rejects when the address can't be had. */
export const listen = async (weft: WeftRuntime, options: ListenOptions = {}): Promise<Listening> => {
  const { host = "127.0.0.1", port = 8787, tls, bodyIdleMs = 60_000, headersMs = 60_000, ...more } = options
  const { sendIdleMs = 60_000, connections = 10_000, connectionsPerAddress, ...rest } = more
  const mounted = node(weft, rest)
  await mounted.ready
  const patience = makeBodyPatience({ idleMs: bodyIdleMs, wholeMs: requestMs, cut: cutOff })
  const limits = { total: connections, perAddress: connectionsPerAddress ?? null, sendIdleMs }
  const serverOptions = serverOptionsOf(headersMs)
  const server = answerBy(mounted, patience, limits, createServer(serverOptions))
  const tlsServer =
    tls && answerBy(mounted, patience, limits, makeTlsServer(await weft.runtime.context(), serverOptions))
  const close = async (closeOptions?: CloseOptions): Promise<void> => {
    const closed = [server, ...(tlsServer === undefined ? [] : [tlsServer])].map(stop)
    await mounted.close(closeOptions)
    for (const { end } of closed) end()
    patience.close()
    await Promise.all(closed.map(({ done }) => done))
  }
  try {
    const bound = await bind(server, host, port)
    return {
      host,
      port: bound,
      url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
      drain: mounted.drain,
      tlsPort: tlsServer === undefined || tls === undefined ? null : await bind(tlsServer, host, tls.port),
      close
    }
  } catch (error) {
    await close({ graceMs: 0 })
    throw error
  }
}

const serverOptionsOf = (headersMs: number) => ({
  keepAliveTimeout,
  headersTimeout: headersMs,
  // How often Node looks whose headers are late.
  connectionsCheckingInterval: Math.min(headersMs, 30_000),
  // What is left is `BodyPatience`'s.
  requestTimeout: 0,
  // The check of `Host` is done here, so that its answer has the envelope.
  requireHostHeader: false,
  // Whatever the process is started with: servers and proxies must agree where a request ends.
  insecureHTTPParser: false,
  maxHeaderSize: headerBytesMax
})

/** Has the mount answer the server's requests, and what is none answered in the envelope, too. */
const answerBy = <S extends Server | HttpsServer>(
  mounted: NodeMount,
  patience: BodyPatience,
  limits: ConnectionLimits,
  server: S
): S => {
  /** The last of those that are on their way: requests may come before the answers to others. */
  const answering = new WeakMap<Duplex, ServerResponse>()
  /** Nothing may get between the pieces of an answer that is on its way, nor before it. */
  const unlessAnswering = (socket: Duplex, say: () => void): void => {
    if (answering.has(socket)) socket.destroy()
    else say()
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const fault = requestFault(request)
    const { socket } = request
    if (fault !== null) return void unlessAnswering(socket, () => refuse(socket, fault))
    answering.set(socket, response)
    response.once("close", () => {
      if (answering.get(socket) === response) answering.delete(socket)
    })
    patience.watch(request, response)
    mounted(request, response)
  }
  server.maxHeadersCount = headersMax
  limitConnections(server, limits, (socket) => answering.has(socket))
  server.on("request", answer)
  server.on("checkContinue", (request, response) => {
    continueOnRead(request, response)
    answer(request, response)
  })
  server.on("clientError", (error, socket) => unlessAnswering(socket, () => onClientError(error, socket)))
  server.on("checkExpectation", ({ socket }) =>
    unlessAnswering(socket, () => refuse(socket, "The header Expect asks for what this server does not do"))
  )
  server.on("connect", (_request, socket) => unlessAnswering(socket, () => refuse(socket, "This server is no proxy")))
  return server
}

/** What Node lets pass, though servers and proxies may not agree about what it means; null for a sound request. */
const requestFault = ({ httpVersion, rawHeaders }: IncomingMessage): string | null => {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "This is not HTTP/1.1"
  // What is more than that, Node has left out of `headers`.
  if (rawHeaders.length > 2 * headersMax) return "There are too many headers"
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++
  }
  // Of several, Node takes the first; a proxy may have taken another.
  if (hosts > 1) return "The header Host is there more than once"
  return hosts === 0 && httpVersion !== "1.0" ? "The header Host is missing" : null
}

/** Accepts no more; `end` closes what is open, `done` is when nothing is. */
const stop = (server: Server | HttpsServer): { readonly end: () => void; readonly done: Promise<void> } => ({
  done: new Promise<void>((resolve) => server.close(() => resolve())),
  end: () => server.closeAllConnections()
})

const bind = (server: Server | HttpsServer, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => {
      server.off("error", reject)
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : port)
    })
  })

/** What Node's parser refuses never becomes a request; the socket is all there is. */
const onClientError = (error: Error & { readonly code?: string }, socket: Duplex): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const message =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "The headers are too large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? notInTime
        : "This is not an HTTP request"
  refuse(socket, message)
}

const notInTime = "The request did not arrive in time"

/** For a request whose body does not come: what was begun with it ends with its connection. */
const cutOff = ({ socket }: IncomingMessage, response: ServerResponse): void => {
  if (!response.headersSent) refuse(socket, notInTime)
  socket.destroySoon()
}

const refuse = (socket: Socket | Duplex, message: string): void => {
  const failure: Failure = { ...internal, code: "bad_request", message }
  const { status, headers, body } = failureAnswer(failure, crypto.randomUUID())
  const lines = Object.entries({ ...headers, connection: "close", "content-length": String(body.length) })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${head}\r\n${body}`)
}
