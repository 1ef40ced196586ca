/**
 * Weft before a Fastify app, on its server: Fastify's router, hooks and body parsers never see a request of Weft's, so
 * they can neither read its body nor take its URL for malformed.
 */
import { createServer, type Server } from "node:http"
import { type ExpressOptions, express } from "./ExpressMount.ts"
import type { Listener } from "./NodeMount.ts"
import type { CloseOptions, WeftRuntime } from "./Serving.ts"

export interface FastifyMount {
  /** Fastify's option of this name: makes its server, with Fastify's own timeouts. Plain HTTP only; throws for others. */
  readonly serverFactory: (handler: Listener, settings: Readonly<Record<string, unknown>>) => Server
  readonly ready: Promise<void>
  /** For Fastify's hook `preClose`: its own `close` waits for requests and subscriptions, which this ends. */
  readonly close: (options?: CloseOptions) => Promise<void>
}

export const fastify = (weft: WeftRuntime, options: ExpressOptions = {}): FastifyMount => {
  const mounted = express(weft, options)
  return {
    serverFactory: (handler, settings) => {
      if (settings.https !== undefined && settings.https !== null) throw new Error(plainOnly)
      if (settings.http2 === true) throw new Error(plainOnly)
      const server = createServer((request, response) => mounted(request, response, () => handler(request, response)))
      const { keepAliveTimeout, requestTimeout, connectionTimeout } = settings
      // Fastify leaves this to whoever makes the server.
      if (typeof keepAliveTimeout === "number") server.keepAliveTimeout = keepAliveTimeout
      if (typeof requestTimeout === "number") server.requestTimeout = requestTimeout
      if (typeof connectionTimeout === "number") server.setTimeout(connectionTimeout)
      return server
    },
    ready: mounted.ready,
    close: mounted.close
  }
}

const plainOnly = "Http.fastify makes servers of plain HTTP: let a proxy end TLS, or make the server with Http.express"
