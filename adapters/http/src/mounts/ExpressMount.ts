/** Weft as Express (or Connect) middleware. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { HttpOptions } from "../app/HttpOptions.ts"
import { node } from "./NodeMount.ts"
import type { CloseOptions, WeftRuntime } from "./Serving.ts"
import { isAmong, weftPaths } from "./WeftPaths.ts"

export interface ExpressOptions extends HttpOptions {
  /** Where Weft's routes begin, such as `/automation`; none by default. `app.use(prefix, …)` needs no `prefix` here. */
  readonly prefix?: string
}

export interface ExpressMount {
  /** Passes on what is not Weft's. To be used before body parsers. */
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void
  readonly ready: Promise<void>
  readonly close: (options?: CloseOptions) => Promise<void>
}

export const express = (weft: WeftRuntime, { prefix = "", ...options }: ExpressOptions = {}): ExpressMount => {
  const mounted = node(weft, options)
  const own = weftPaths(options)
  const middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void => {
    const url = request.url ?? ""
    const rest = url.startsWith(prefix) ? url.slice(prefix.length) : ""
    if (isAmong(own, rest)) {
      request.url = rest
      mounted(request, response)
    } else {
      next()
    }
  }
  return Object.assign(middleware, { ready: mounted.ready, close: mounted.close })
}
