/** Weft as a function from `Request` to `Response`. */
import type { WeftServices } from "@weft/core"
import { Effect, Fiber, type Scope } from "effect"
import { HttpEffect, HttpServerRequest } from "effect/http"
import type { HttpOptions } from "../app/HttpOptions.ts"
import { type CloseOptions, type MountedApp, mountApp, type WeftRuntime } from "./MountedApp.ts"

export interface FetchMount {
  /** Handles every request, unknown routes with 404. Webhooks get the client address from forwarding headers only. */
  (request: Request): Promise<Response>
  readonly close: (options?: CloseOptions) => Promise<void>
}

export const fetch = (weft: WeftRuntime, options: HttpOptions = {}): FetchMount => {
  const mounting = mountApp(weft, options)
  const handlerPromise = mounting.then(makeHandler)
  // Each call rejects with the error.
  handlerPromise.catch(() => undefined)
  return Object.assign(async (request: Request) => (await handlerPromise)(request), {
    close: async (closeOptions?: CloseOptions) => (await mounting).close(closeOptions)
  })
}

const makeHandler = ({ app, context, inFlight, requests }: MountedApp) => {
  /** Requests whose responses are still streaming after the handler returned. */
  const streaming = new WeakSet<object>()
  const tracked = Effect.tap(app.http, (response) =>
    response.body._tag === "Stream"
      ? Effect.map(HttpServerRequest.HttpServerRequest, ({ source }) => streaming.add(source))
      : Effect.void
  )
  // Without a scope, a shutdown could not interrupt the fibers of requests.
  const scoped = Effect.withFiber((fiber: Fiber.Fiber<unknown, unknown>) => {
    Fiber.runIn(fiber, requests)
    return tracked
  })
  const handle = HttpEffect.toWebHandlerWith<WeftServices, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(
    scoped
  )
  return async (request: Request): Promise<Response> => {
    inFlight.begin()
    let response: Response
    try {
      response = await handle(request)
    } catch (error) {
      inFlight.end()
      throw error
    }
    if (streaming.has(request) && response.body !== null) return withSentCallback(response, response.body, inFlight.end)
    inFlight.end()
    return response
  }
}

/** Wraps a response so that `onSent` is called when its body was read, failed or was cancelled. */
const withSentCallback = (response: Response, body: ReadableStream<Uint8Array>, onSent: () => void): Response =>
  new Response(body.pipeThrough(new TransformStream({ flush: onSent, cancel: onSent })), response)
