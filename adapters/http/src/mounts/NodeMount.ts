/** Weft as a request listener of `node:http`. */
import { IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect } from "effect"
import type { HttpOptions } from "../app/HttpOptions.ts"
import { joinChunks } from "../bodies/JoinedChunks.ts"
import { hasLargeBody, readLargeBody } from "../bodies/LargeBodies.ts"
import { type Failure, failureResponse, internal, unavailable } from "../responses/Failure.ts"
import { declaresBody } from "../webhooks/WebhookDecision.ts"
import { makeWebhookFastPath } from "../webhooks/WebhookFastPath.ts"
import { ConnectionTurns, type Listener } from "./ConnectionTurns.ts"
import { type CloseOptions, type DrainOptions, type MountedApp, mountApp, type WeftRuntime } from "./MountedApp.ts"
import { type RequestFault, requestFault } from "./RequestFault.ts"

export interface NodeMount {
  /** A listener for `node:http` servers. Handles every request, unknown routes with 404. */
  (request: IncomingMessage, response: ServerResponse): void
  /** Resolves when Weft has started. Earlier requests wait. Rejects if Weft could not start. */
  readonly ready: Promise<void>
  /**
   * Prepares for `close`. `/readyz` returns 503, subscriptions end, and connections are not kept alive. After a while, new
   * requests get 503. Resolves when the requests in flight have finished.
   */
  readonly drain: (options?: DrainOptions) => Promise<void>
  /** Waits for requests to finish, then interrupts the rest. Does not close Weft itself. */
  readonly close: (options?: CloseOptions) => Promise<void>
}

export const node = (weft: WeftRuntime, options: HttpOptions = {}): NodeMount => mountOnNode(weft, options).mount

/** A mount on a server of its own. */
export interface OwnMount {
  readonly mount: NodeMount
  /** To be called with each connection that opens. */
  readonly accept: (socket: Socket) => void
  /** True while a request of the connection has no complete response. */
  readonly isAnswering: (socket: Socket) => boolean
}

interface OwnServer {
  /** Called when a request starts, which may be later than it arrived. */
  readonly onStart?: Listener
  /** By default `requestFault`. */
  readonly findFault?: (request: IncomingMessage) => RequestFault | null
}

/** Like `node`, for a server of its own. */
export const mountOnNode = (
  weft: WeftRuntime,
  options: HttpOptions,
  { onStart, findFault = requestFault }: OwnServer = {}
): OwnMount => {
  const mounting = mountApp(weft, options)
  const turns = new ConnectionTurns((request, response) => {
    onStart?.(request, response)
    start(request, response)
  })
  const listenerPromise = mounting.then((mounted) => makeListener(mounted, findFault))
  let listener: Listener | null = null
  let isDraining = (): boolean => false
  const ready = Promise.all([mounting, listenerPromise]).then(([mounted, opened]) => {
    isDraining = mounted.isDraining
    listener = opened
  })
  // `ready` reports the error, and requests get 500.
  ready.catch(() => undefined)
  const start: Listener = (request, response) => {
    if (listener !== null) {
      listener(request, response)
    } else {
      void listenerPromise.then(
        (opened) => opened(request, response),
        () => refuse(response, 500, unavailable)
      )
    }
  }
  const enter = (request: IncomingMessage, response: ServerResponse): void => {
    if (request instanceof IncomingMessage && request.headers["transfer-encoding"] !== undefined) {
      guardChunks(request, response, turns, () => isDraining())
    } else if (request instanceof IncomingMessage && hasLargeBody(request)) {
      const { socket } = request
      readLargeBody(request, {
        onPart: (bytes) => turns.countBody(bytes),
        onRead: (read) => turns.readBody(socket, read)
      })
    }
    turns.enter(request, response)
  }
  const mount = Object.assign(enter, {
    ready,
    drain: async (drainOptions?: DrainOptions) => (await mounting).drain(drainOptions),
    close: async (closeOptions?: CloseOptions) => (await mounting).close(closeOptions)
  })
  return { mount, accept: (socket) => turns.accept(socket), isAnswering: (socket) => turns.isAnswering(socket) }
}

const makeListener = async (mounted: MountedApp, findFault: NonNullable<OwnServer["findFault"]>): Promise<Listener> => {
  const { app, context, inFlight, isDraining, rejects, requests } = mounted
  const general = await Effect.runPromiseWith(context)(NodeHttpServer.makeHandler(app.http, { scope: requests }))
  const webhook = makeWebhookFastPath(mounted)
  return (request, response) => {
    const fault = request instanceof IncomingMessage ? findFault(request) : null
    if (fault !== null) return refuseAndClose(response, fault)
    if (isDraining()) response.shouldKeepAlive = false
    if (rejects(request.url ?? "")) return refuse(response, 503, unavailable)
    inFlight.begin()
    response.once("close", inFlight.end)
    if (request.readableEnded) return refuse(response, 400, bodyAlreadyRead)
    if (webhook(request, response)) return
    // Nothing is read before the app reads it. Node resumes the socket then, and at the end of the body.
    if (request instanceof IncomingMessage && !request.complete && declaresBody(request.headers)) request.socket.pause()
    general(request, response)
  }
}

/**
 * Bounds the cost of a body in chunks. A response that precedes its end closes the connection, because the rest may have
 * any length and any number of chunks.
 */
const guardChunks = (
  request: IncomingMessage,
  response: ServerResponse,
  turns: ConnectionTurns,
  isDraining: () => boolean
): void => {
  const { shouldKeepAlive } = response
  // With `Expect`, a response without a read closes the connection already.
  const closesUnread = request.headers.expect === undefined
  if (closesUnread) response.shouldKeepAlive = false
  joinChunks(request, {
    onManyChunks: () => turns.rest(request.socket),
    onRead: (read) => {
      if (request.complete) read()
      else turns.readInTurn(request.socket, read)
    },
    onComplete: () => {
      if (closesUnread && !response.headersSent) response.shouldKeepAlive = shouldKeepAlive && !isDraining()
    }
  })
}

const badRequest = (message: string): Failure => ({ ...internal, code: "bad_request", message })

const bodyAlreadyRead = badRequest("The body was read before Weft received the request: mount Weft before body parsers")

const refuseAndClose = (response: ServerResponse, { status, message }: RequestFault): void => {
  response.shouldKeepAlive = false
  refuse(response, status, badRequest(message))
}

/** Responds to requests that never reach the app. The request id is a UUID here as well. */
const refuse = (response: ServerResponse, status: 400 | 421 | 500 | 503, failure: Failure): void => {
  // Otherwise Node reads the rest of the body.
  if (!response.req.complete) response.shouldKeepAlive = false
  const { headers, body } = failureResponse(failure, crypto.randomUUID())
  response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(body)) }).end(body)
}
