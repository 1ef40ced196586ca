/** Weft as a function from `Request` to `Response`. */
import type { WeftServices } from "@weft/core"
import { Effect, Fiber, type Scope } from "effect"
import { HttpEffect, HttpServerRequest } from "effect/http"
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
  /** Requests whose answers stream out after they were returned. */
  const streaming = new WeakSet<object>()
  const noted = Effect.tap(app.http, (response) =>
    response.body._tag === "Stream"
      ? Effect.map(HttpServerRequest.HttpServerRequest, ({ source }) => streaming.add(source))
      : Effect.void
  )
  // Otherwise the fibers of requests would belong to nobody, and closing would not reach them.
  const owned = Effect.withFiber((fiber: Fiber.Fiber<unknown, unknown>) => {
    Fiber.runIn(fiber, requests)
    return noted
  })
  const handle = HttpEffect.toWebHandlerWith<WeftServices, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(
    owned
  )
  return async (request: Request): Promise<Response> => {
    inFlight.enter()
    let response: Response
    try {
      response = await handle(request)
    } catch (error) {
      inFlight.leave()
      throw error
    }
    if (streaming.has(request) && response.body !== null) return whenSent(response, response.body, inFlight.leave)
    inFlight.leave()
    return response
  }
}

/** The same answer, which tells when its body was taken, failed or was given up. */
const whenSent = (response: Response, body: ReadableStream<Uint8Array>, done: () => void): Response =>
  new Response(body.pipeThrough(new TransformStream({ flush: done, cancel: done })), response)
