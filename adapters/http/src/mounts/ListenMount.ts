/** Weft as a server of its own. */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Server as HttpsServer } from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { type Failure, failureAnswer, internal } from "../answers/Failure.ts"
import type { HttpOptions } from "../app/HttpOptions.ts"
import { type BodyPatience, makeBodyPatience } from "./BodyPatience.ts"
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

/** The rest is `BodyPatience`'s. */
const headersTimeout = 60_000
const requestMs = 300_000

/** Listens once Weft answers, so that no request waits for the start. Rejects when the address can't be had. */
export const listen = async (weft: WeftRuntime, options: ListenOptions = {}): Promise<Listening> => {
  const { host = "127.0.0.1", port = 8787, tls, bodyIdleMs = 60_000, ...rest } = options
  const mounted = node(weft, rest)
  await mounted.ready
  const patience = makeBodyPatience({ idleMs: bodyIdleMs, wholeMs: requestMs, cut: cutOff })
  const server = answerBy(mounted, patience, createServer(serverOptions))
  const tlsServer = tls && answerBy(mounted, patience, makeTlsServer(await weft.runtime.context(), serverOptions))
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

// The check of `Host` is done here, so that its answer has the envelope.
const serverOptions = { keepAliveTimeout, headersTimeout, requestTimeout: 0, requireHostHeader: false }

/** Has the mount answer the server's requests, and what is none answered in the envelope, too. */
const answerBy = <S extends Server | HttpsServer>(mounted: NodeMount, patience: BodyPatience, server: S): S => {
  const answering = new WeakSet<Duplex>()
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.headers.host === undefined && request.httpVersion !== "1.0") {
      return void refuse(response.socket ?? request.socket, "The header Host is missing")
    }
    answering.add(request.socket)
    response.once("close", () => answering.delete(request.socket))
    patience.watch(request, response)
    mounted(request, response)
  }
  server.on("request", answer)
  server.on("checkContinue", (request, response) => {
    continueOnRead(request, response)
    answer(request, response)
  })
  server.on("clientError", (error, socket) => {
    // Nothing may get between the pieces of an answer that is on its way.
    if (answering.has(socket)) socket.destroy()
    else onClientError(error, socket)
  })
  server.on("checkExpectation", (request) =>
    refuse(request.socket, "The header Expect asks for what this server does not do")
  )
  server.on("connect", (_request, socket) => refuse(socket, "This server is no proxy"))
  return server
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
