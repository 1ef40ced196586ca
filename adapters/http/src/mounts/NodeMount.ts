/** Weft as a request listener of `node:http`. */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect } from "effect"
import { type Failure, failureAnswer, internal, later } from "../answers/Failure.ts"
import type { HttpOptions } from "../app/HttpOptions.ts"
import { makeWebhookFastPath } from "../webhooks/WebhookFastPath.ts"
import { type CloseOptions, type DrainOptions, openServing, type Serving, type WeftRuntime } from "./Serving.ts"

export type Listener = (request: IncomingMessage, response: ServerResponse) => void

export interface NodeMount {
  /** A listener for `node:http` servers. Answers every request; routes that are not Weft's with 404. */
  (request: IncomingMessage, response: ServerResponse): void
  /** Resolves when requests are answered without waiting for the start. Rejects when Weft could not start. */
  readonly ready: Promise<void>
  /**
   * Sends clients elsewhere, before `close`: `/readyz` says 503, subscriptions end, connections are not kept, and new
   * requests are refused after a while. Resolves when those have finished that came before.
   */
  readonly drain: (options?: DrainOptions) => Promise<void>
  /** Waits for requests to finish, then interrupts the rest. Does not close Weft itself. */
  readonly close: (options?: CloseOptions) => Promise<void>
}

export const node = (weft: WeftRuntime, options: HttpOptions = {}): NodeMount => {
  const opening = openServing(weft, options)
  const listening = opening.then(listenerOf)
  let listener: Listener | null = null
  const ready = listening.then((opened) => {
    listener = opened
  })
  // Told by `ready`; requests that come all the same are answered.
  ready.catch(() => undefined)
  const mount = (request: IncomingMessage, response: ServerResponse): void => {
    if (listener !== null) {
      listener(request, response)
    } else {
      void listening.then(
        (opened) => opened(request, response),
        () => refuse(response, 500)
      )
    }
  }
  return Object.assign(mount, {
    ready,
    drain: async (drainOptions?: DrainOptions) => (await opening).drain(drainOptions),
    close: async (closeOptions?: CloseOptions) => (await opening).close(closeOptions)
  })
}

const listenerOf = async (serving: Serving): Promise<Listener> => {
  const { app, context, inFlight, isLeaving, refuses, requests } = serving
  const general = await Effect.runPromiseWith(context)(NodeHttpServer.makeHandler(app.http, { scope: requests }))
  const webhook = makeWebhookFastPath(serving)
  return (request, response) => {
    if (isLeaving()) response.shouldKeepAlive = false
    if (refuses(request.url ?? "")) return refuse(response, 503)
    inFlight.enter()
    response.once("close", inFlight.leave)
    if (request.readableEnded) return refuse(response, 400)
    if (!webhook(request, response)) general(request, response)
  }
}

const readBefore: Failure = {
  ...internal,
  code: "bad_request",
  message: "The body was read before Weft got the request: mount Weft before body parsers"
}

/** For requests that never reach the app: its id, like all, is a UUID. */
const refuse = (response: ServerResponse, status: 400 | 500 | 503): void => {
  const { headers, body } = failureAnswer(status === 400 ? readBefore : later, crypto.randomUUID())
  response.writeHead(status, { ...headers }).end(body)
}
