/** Weft as Express (or Connect) middleware. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { HttpOptions } from "../app/HttpOptions.ts"
import type { CloseOptions, WeftRuntime } from "./MountedApp.ts"
import { node } from "./NodeMount.ts"
import { matchesPaths, weftPaths } from "./WeftPaths.ts"

export interface ExpressOptions extends HttpOptions {
  /** Path prefix of Weft's routes, such as `/automation`; none by default. `app.use(prefix, …)` needs no `prefix` here. */
  readonly prefix?: string
}

export interface ExpressMount {
  /** Handles Weft's routes and passes all other requests to `next`. To be used before body parsers. */
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void
  readonly ready: Promise<void>
  readonly close: (options?: CloseOptions) => Promise<void>
}

export const express = (weft: WeftRuntime, { prefix = "", ...options }: ExpressOptions = {}): ExpressMount => {
  const mounted = node(weft, options)
  const weftRoutes = weftPaths(options)
  const middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void => {
    const url = request.url ?? ""
    const path = url.startsWith(prefix) ? url.slice(prefix.length) : ""
    if (matchesPaths(weftRoutes, path)) {
      request.url = path
      mounted(request, response)
    } else {
      next()
    }
  }
  return Object.assign(middleware, { ready: mounted.ready, close: mounted.close })
}
