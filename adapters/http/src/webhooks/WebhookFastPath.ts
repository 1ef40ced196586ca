/**
 * Webhooks on Node's own request and response, past the router and `effect`'s request: what a call costs besides
 * running its function is a few microseconds.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { hasTracer, toStart, type WebhookAnswer, type WebhookCall } from "@weft/core"
import { Cause, Effect, Exit, Scope, Tracer } from "effect"
import { bearerToken } from "../access/BearerToken.ts"
import { busyAnswer, failureAnswer, failureOf, internal, isOutage } from "../answers/Failure.ts"
import type { RouteMeter } from "../metrics/HttpMeter.ts"
import type { Serving } from "../mounts/Serving.ts"
import { RequestSpan } from "../tracing/RequestSpan.ts"
import { hostOf } from "./CustomDomain.ts"
import { HeldBody } from "./HeldBodies.ts"
import { type Done, OpenCalls } from "./OpenCalls.ts"
import { asksForServiceWorker } from "./SharedOrigin.ts"
import { hasNoBody, sentHeaders } from "./WebhookHeaders.ts"
import {
  parseDomainTarget,
  parseWebhookTarget,
  type WebhookTarget,
  webhookMethods,
  webhookPrefix,
  webhookRoute
} from "./WebhookTarget.ts"

/** Takes the request and gives true, or leaves it untouched for the general path and gives false. */
export type FastPath = (request: IncomingMessage, response: ServerResponse) => boolean

export const makeWebhookFastPath = (serving: Serving): FastPath => {
  const { app, context, requests, settings, webhooks, domains } = serving
  const fork = Effect.runForkWith(context)
  const isTraced = hasTracer(context)
  const open = new OpenCalls()
  Effect.runSync(Scope.addFinalizer(requests, open.end))

  const sendFailure = (exchange: Exchange, cause: Cause.Cause<unknown>): void => {
    const reason = cause.reasons.find((one) => one._tag !== "Interrupt")
    const error = reason === undefined ? null : reason._tag === "Fail" ? reason.error : reason.defect
    const failure = failureOf(error)
    // Without a reason it was interrupted: the client went away, or the server is closing.
    const { status, headers, body } = failureAnswer(
      failure ?? { ...internal, retryAfterSeconds: reason === undefined ? 1 : null },
      exchange.id
    )
    send(exchange, status, { ...headers }, body)
    if (reason !== undefined && (failure === null || isOutage(error))) {
      fork(Effect.annotateLogs(Effect.logError("a webhook failed", cause), { request_id: exchange.id }))
    }
  }

  const sendAnswer = (exchange: Exchange, answer: WebhookAnswer): void => {
    const { single, cookies } = sentHeaders(answer, exchange.id, exchange.isShared)
    const headers = cookies === null ? single : { ...single, "set-cookie": cookies }
    try {
      send(exchange, answer.status, headers, hasNoBody(answer.status) ? null : answer.body)
    } catch (defect) {
      // Node refused a header, so that nothing is sent yet.
      sendFailure(exchange, Cause.die(defect))
    }
  }

  const answer = (call: WebhookCall, exchange: Exchange, done: Done): (() => void) => {
    const answering = isTraced ? toStart(inSpan(exchange, call, webhooks.handle(call))) : webhooks.answer(call)
    return answering(context, done)
  }

  const exchangeOf = (method: string, response: ServerResponse, isShared: boolean): Exchange => {
    const meter = app.meter.of(method, webhookRoute)
    return { response, meter, began: performance.now(), id: app.nextId(), isShared, span: null }
  }

  /** `held` is null for a call without a body. */
  const start = (call: WebhookCall, exchange: Exchange, held: HeldBody | null): void => {
    const { response } = exchange
    const cancel = open.begin(
      (done) => answer(call, exchange, done),
      (exit) => {
        held?.letGo()
        if (Exit.isSuccess(exit)) sendAnswer(exchange, exit.value)
        else sendFailure(exchange, exit.cause)
        exchange.span?.breakOff()
      }
    )
    if (cancel === null) return
    response.once("close", () => {
      if (!response.writableEnded) cancel()
    })
  }

  const refuse = (exchange: Exchange): void => {
    const { status, headers, body } = busyAnswer(exchange.id)
    send(exchange, status, { ...headers }, body)
  }

  return (request, response) => {
    const { method = "", url = "" } = request
    if (!url.startsWith(webhookPrefix) || !webhookMethods.has(method)) return false
    // A body of unknown or excessive length is for the general path, which counts while it reads.
    if (request.headers["transfer-encoding"] !== undefined) return false
    const length = Number(request.headers["content-length"] ?? 0)
    if (length > settings.bodyBytes) return false
    const host = hostOf(request.headers, settings.trustProxy)
    const route = host === null ? null : domains.peek(host)
    if (route === undefined) return false
    const isShared = route === null
    if (isShared && asksForServiceWorker(request.headers)) return false
    const target = route === null ? parseWebhookTarget(url) : parseDomainTarget(url, route)
    if (target === null) return false
    if (length === 0) {
      start(callOf(request, method, target, null), exchangeOf(method, response, isShared), null)
    } else {
      const held = new HeldBody(app.bodies)
      readBody(request, held, (body) => {
        const exchange = exchangeOf(method, response, isShared)
        if (body === null) refuse(exchange)
        else start(callOf(request, method, target, body), exchange, held)
      })
    }
    return true
  }
}

const callOf = (
  request: IncomingMessage,
  method: string,
  target: WebhookTarget,
  body: Uint8Array | null
): WebhookCall => ({
  org: target.org,
  env: target.env,
  service: target.service,
  path: target.path,
  method,
  url: target.url,
  query: target.query,
  headers: joinedHeaders(request),
  body,
  remoteIp: request.socket.remoteAddress ?? "",
  token: bearerToken(request.headers.authorization)
})

const joinedHeaders = ({ headers }: IncomingMessage): Record<string, string> => {
  const joined: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) joined[name] = typeof value === "string" ? value : value.join(", ")
  }
  return joined
}

/**
 * Calls back with the whole body, or with null where there was no room for it: whoever sends it listens only when all of it
 * is sent. Never, when the client goes away before.
 */
const readBody = (request: IncomingMessage, held: HeldBody, done: (body: Uint8Array | null) => void): void => {
  const tear = (): void => held.letGo()
  request.on("data", (chunk: Buffer) => held.add(chunk))
  request.on("end", () => {
    request.off("close", tear)
    done(held.take())
  })
  request.on("close", tear)
  // `close` follows.
  request.on("error", () => undefined)
}

/** `answering` in the request's span, which ends when the answer is sent. */
const inSpan = <A, E>(exchange: Exchange, { method, headers }: WebhookCall, answering: Effect.Effect<A, E>) =>
  Effect.withFiber((fiber) => {
    const span = RequestSpan.open(fiber, method, headers.traceparent)
    if (span === null) return answering
    exchange.span = span
    return Effect.provideService(answering, Tracer.ParentSpan, span.at(webhookRoute))
  })

/** A request that is under way. */
interface Exchange {
  readonly response: ServerResponse
  readonly meter: RouteMeter
  readonly id: string
  /** Milliseconds of `performance.now`. */
  readonly began: number
  /** Whether the host is no custom domain. */
  readonly isShared: boolean
  /** Null without a tracer. */
  span: RequestSpan | null
}

const send = (
  { response, meter, began, span }: Exchange,
  status: number,
  headers: Record<string, string | Array<string>>,
  body: string | Uint8Array | null
): void => {
  if (response.destroyed) return
  if (body === null) {
    response.writeHead(status, headers).end()
  } else {
    headers["content-length"] = String(typeof body === "string" ? Buffer.byteLength(body) : body.length)
    response.writeHead(status, headers).end(body)
  }
  meter.answered(status, (performance.now() - began) / 1000)
  span?.answered(status, typeof headers["x-request-id"] === "string" ? headers["x-request-id"] : undefined)
}
