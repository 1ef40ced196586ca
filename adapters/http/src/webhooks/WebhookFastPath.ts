/**
 * Webhooks on Node's own request and response, without the router and `effect`'s request. The overhead of a call is then
 * a few microseconds besides running its function.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { CurrentOrigin, type Origin } from "@weft/core/adapter"
import { hasTracer, toCallbackTask, type WebhookAnswer, type WebhookCall } from "@weft/core/internal"
import { Cause, Effect, Exit, Scope, Tracer } from "effect"
import { forwardedAddress } from "../access/ClientAddress.ts"
import { BufferedBody } from "../bodies/BufferedBody.ts"
import type { RouteMeter } from "../metrics/HttpMeter.ts"
import type { MountedApp } from "../mounts/MountedApp.ts"
import { busyResponse, failureResponse, firstError, interrupted, reportError } from "../responses/Failure.ts"
import type { PlainResponse } from "../responses/PlainResponse.ts"
import { RequestSpan } from "../tracing/RequestSpan.ts"
import { selectRange } from "./AnswerRange.ts"
import { InFlightCalls, type OnExit } from "./InFlightCalls.ts"
import {
  buildCall,
  decideWebhook,
  declaresBody,
  findCachedRoute,
  isWebhookPath,
  requestedHost,
  toWebhookResponse
} from "./WebhookDecision.ts"
import { type WebhookTarget, webhookRoute } from "./WebhookTarget.ts"

/** Handles the request and returns true, or returns false and leaves it untouched for the general path. */
export type FastPath = (request: IncomingMessage, response: ServerResponse) => boolean

export const makeWebhookFastPath = (serving: MountedApp): FastPath => {
  const { app, context, requests, settings, webhooks, domains } = serving
  const fork = Effect.runForkWith(context)
  const isTraced = hasTracer(context)
  const calls = new InFlightCalls()
  Effect.runSync(Scope.addFinalizer(requests, calls.end))

  const sendFailure = (exchange: Exchange, cause: Cause.Cause<unknown>): void => {
    const found = firstError(cause)
    // Without an error the call was interrupted: the client disconnected, or the server shuts down.
    if (found === null) {
      sendPlain(exchange, failureResponse(interrupted, exchange.id))
      return
    }
    const { failure, logged } = reportError(found.error)
    sendPlain(exchange, failureResponse(failure, exchange.id))
    if (logged === null) return
    fork(Effect.annotateLogs(Effect.logError("a webhook failed", cause), { request_id: exchange.id }))
  }

  const sendResponse = (exchange: Exchange, answer: WebhookAnswer): void => {
    const { method = "", headers: asked } = exchange.response.req
    const whole = toWebhookResponse(answer, exchange.id, exchange.isShared, settings.console)
    const { status, headers, cookies, body } = selectRange(whole, method, asked)
    try {
      send(exchange, status, cookies === null ? headers : { ...headers, "set-cookie": cookies }, body)
    } catch (defect) {
      // Node rejected a header, so nothing was sent yet.
      sendFailure(exchange, Cause.die(defect))
    }
  }

  const answer = (call: WebhookCall, exchange: Exchange, done: OnExit): (() => void) => {
    const origin = (): Origin => ({
      id: exchange.id,
      address: () => forwardedAddress(call.headers["x-forwarded-for"], settings.trustProxy) ?? (call.remoteIp || null),
      isAdmin: false
    })
    const task = isTraced
      ? toCallbackTask(Effect.provideService(inSpan(exchange, call, webhooks.handle(call)), CurrentOrigin, origin()))
      : webhooks.answer(call, origin)
    return task(context, done)
  }

  const makeExchange = (method: string, response: ServerResponse, isShared: boolean): Exchange => {
    const meter = app.meter.route(method, webhookRoute)
    return { response, meter, startedAt: performance.now(), id: app.nextId(), isShared, span: null }
  }

  /** `buffered` is null for a call without a body. */
  const start = (call: WebhookCall, exchange: Exchange, buffered: BufferedBody | null): void => {
    const { response } = exchange
    const cancel = calls.begin(
      (done) => answer(call, exchange, done),
      (exit) => {
        buffered?.release()
        if (Exit.isSuccess(exit)) sendResponse(exchange, exit.value)
        else sendFailure(exchange, exit.cause)
        exchange.span?.endInterrupted()
      }
    )
    if (cancel === null) return
    response.once("close", () => {
      if (!response.writableEnded) cancel()
    })
  }

  return (request, response) => {
    const { method = "", url = "", headers } = request
    if (!isWebhookPath(url)) return false
    const route = findCachedRoute(domains, requestedHost(headers, settings.trustProxy))
    if (route === undefined) return false
    const decision = decideWebhook(request, route, declaresBody(headers), app.bodyBudget.maxBodyBytes)
    // The general path writes rejections, and counts the bytes of a body of unknown length.
    if (decision._tag === "Invoke") {
      start(toCall(request, decision, method, null), makeExchange(method, response, decision.isShared), null)
    } else if (decision._tag === "ReadBody") {
      const buffered = new BufferedBody(app.bodyBudget)
      readBody(request, buffered, (body) => {
        const exchange = makeExchange(method, response, decision.isShared)
        if (body === null) sendPlain(exchange, busyResponse(exchange.id))
        else start(toCall(request, decision, method, body), exchange, buffered)
      })
    } else {
      return false
    }
    return true
  }
}

const toCall = (request: IncomingMessage, target: WebhookTarget, method: string, body: Uint8Array | null) =>
  buildCall(target, method, joinHeaders(request), request.socket.remoteAddress ?? "", body)

const joinHeaders = ({ headers }: IncomingMessage): Record<string, string> => {
  const joined: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) joined[name] = typeof value === "string" ? value : value.join(", ")
  }
  return joined
}

/**
 * Calls back with the whole body, or with null if the body exceeded the memory budget. Null comes only after the end of
 * the body, because many clients read no response before. If the client disconnects, there is no callback.
 */
const readBody = (request: IncomingMessage, buffered: BufferedBody, done: (body: Uint8Array | null) => void): void => {
  const discard = (): void => buffered.release()
  request.on("data", (chunk: Buffer) => buffered.add(chunk))
  request.on("end", () => {
    request.off("close", discard)
    done(buffered.take())
  })
  request.on("close", discard)
  // `close` follows.
  request.on("error", () => undefined)
}

/** Runs `task` in the request's span, which ends when the response is sent. */
const inSpan = <A, E>(exchange: Exchange, { method, headers }: WebhookCall, task: Effect.Effect<A, E>) =>
  Effect.withFiber((fiber) => {
    const span = RequestSpan.open(fiber, method, headers.traceparent)
    if (span === null) return task
    exchange.span = span
    return Effect.provideService(task, Tracer.ParentSpan, span.begin(webhookRoute))
  })

/** A request in progress. */
interface Exchange {
  readonly response: ServerResponse
  readonly meter: RouteMeter
  readonly id: string
  /** From `performance.now`, in milliseconds. */
  readonly startedAt: number
  /** True if the host is no custom domain. */
  readonly isShared: boolean
  /** Null without a tracer. */
  span: RequestSpan | null
}

const send = (
  { response, meter, startedAt, span }: Exchange,
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
  meter.record(status, (performance.now() - startedAt) / 1000)
  span?.end(status, typeof headers["x-request-id"] === "string" ? headers["x-request-id"] : undefined)
}

const sendPlain = (exchange: Exchange, { status, headers, body }: PlainResponse): void =>
  send(exchange, status, { ...headers }, body)
