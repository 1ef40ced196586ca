/** Weft as a function from `Request` to `Response`. */
import type { WeftServices } from "@weft/core"
import { Effect, Fiber, type Scope } from "effect"
import { HttpEffect, type HttpServerRequest } from "effect/http"
import type { HttpOptions } from "../app/HttpOptions.ts"
import { type CloseOptions, openServing, type Serving, type WeftRuntime } from "./Serving.ts"

export interface FetchMount {
  /** Answers every request; routes that are not Weft's with 404. Webhooks see no client address but the forwarded one. */
  (request: Request): Promise<Response>
  readonly close: (options?: CloseOptions) => Promise<void>
}

export const fetch = (weft: WeftRuntime, options: HttpOptions = {}): FetchMount => {
  const opening = openServing(weft, options)
  const handling = opening.then(handlerOf)
  // Told by every call.
  handling.catch(() => undefined)
  return Object.assign(async (request: Request) => (await handling)(request), {
    close: async (closeOptions?: CloseOptions) => (await opening).close(closeOptions)
  })
}

const handlerOf = ({ app, context, inFlight, requests }: Serving) => {
  // Otherwise the fibers of requests would belong to nobody, and closing would not reach them.
  const owned = Effect.withFiber((fiber: Fiber.Fiber<unknown, unknown>) => {
    Fiber.runIn(fiber, requests)
    return app.http
  })
  const handle = HttpEffect.toWebHandlerWith<WeftServices, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(
    owned
  )
  return async (request: Request): Promise<Response> => {
    inFlight.enter()
    try {
      // Answers are whole when they are returned: nothing of this surface is streamed out.
      return await handle(request)
    } finally {
      inFlight.leave()
    }
  }
}
