/**
 * Weft in front of a Fastify app, on its server. Fastify's router, hooks and body parsers never see Weft's requests.
 * They can therefore neither read the body nor reject the URL as malformed.
 */
import { createServer, type Server } from "node:http"
import type { Listener } from "./ConnectionTurns.ts"
import { type ExpressOptions, express } from "./ExpressMount.ts"
import type { CloseOptions, WeftRuntime } from "./MountedApp.ts"

export interface FastifyMount {
  /** Fastify's `serverFactory` option. Creates the server with Fastify's timeouts. Throws for HTTPS and HTTP/2. */
  readonly serverFactory: (handler: Listener, settings: Readonly<Record<string, unknown>>) => Server
  readonly ready: Promise<void>
  /** For Fastify's hook `preClose`. Ends requests and subscriptions, for which Fastify's own `close` waits. */
  readonly close: (options?: CloseOptions) => Promise<void>
}

export const fastify = (weft: WeftRuntime, options: ExpressOptions = {}): FastifyMount => {
  const mounted = express(weft, options)
  return {
    serverFactory: (handler, settings) => {
      if (settings.https !== undefined && settings.https !== null) throw new Error(plainHttpOnly)
      if (settings.http2 === true) throw new Error(plainHttpOnly)
      const server = createServer((request, response) => mounted(request, response, () => handler(request, response)))
      const { keepAliveTimeout, requestTimeout, connectionTimeout } = settings
      // Fastify does not set these timeouts on servers of a factory.
      if (typeof keepAliveTimeout === "number") server.keepAliveTimeout = keepAliveTimeout
      if (typeof requestTimeout === "number") server.requestTimeout = requestTimeout
      if (typeof connectionTimeout === "number") server.setTimeout(connectionTimeout)
      return server
    },
    ready: mounted.ready,
    close: mounted.close
  }
}

const plainHttpOnly =
  "Http.fastify supports plain HTTP only: terminate TLS at a proxy, or create the server with Http.express"
