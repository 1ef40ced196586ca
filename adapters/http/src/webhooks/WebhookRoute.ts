/** The webhook route on `effect`'s request: for fetch hosts, Effect hosts and whatever the fast path leaves. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { currentRequestId } from "@weft/api"
import { NotFound, type WebhookAnswer, type WebhookCall, Webhooks } from "@weft/core"
import { Effect, Option } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { bearerToken } from "../access/BearerToken.ts"
import { toResponse } from "../answers/Answer.ts"
import { atRoute } from "../tracing/RequestSpan.ts"
import { hasNoBody, sentHeaders } from "./WebhookHeaders.ts"
import { parseWebhookTarget, type WebhookTarget, webhookMethods, webhookRoute } from "./WebhookTarget.ts"

const noSuchRoute = new NotFound({ resource: "route" })

const callOf = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, target: WebhookTarget) {
  const headers: Readonly<Record<string, string>> = { ...request.headers }
  const hasBody = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined
  const isRead = hasBody || (request.source instanceof Request && request.source.body !== null)
  const body = isRead ? new Uint8Array(yield* request.arrayBuffer) : null
  const call: WebhookCall = {
    ...target,
    method: request.method,
    headers,
    body: body === null || body.length === 0 ? null : body,
    remoteIp: Option.getOrElse(request.remoteAddress, () => ""),
    token: bearerToken(headers.authorization)
  }
  return call
})

const responseOf = (request: HttpServerRequest.HttpServerRequest, answer: WebhookAnswer) => {
  const { status } = answer
  const { single: headers, cookies } = sentHeaders(answer, currentRequestId())
  const body = hasNoBody(status) ? null : answer.body
  if (cookies !== null) {
    // `effect`'s response has room for one header of a name. Its own cookies would lose what they do not know.
    if (request.source instanceof Request) return webResponse(status, headers, cookies, body)
    const response = NodeHttpServerRequest.toServerResponse(request)
    // The others are said again by `effect`, and keep the place that they have here: the order is the fast path's.
    for (const name in headers) response.setHeader(name, headers[name] ?? "")
    response.setHeader("set-cookie", cookies)
  }
  return body === null ? HttpServerResponse.empty({ status, headers }) : toResponse({ status, headers, body })
}

const webResponse = (
  status: number,
  single: Record<string, string>,
  cookies: ReadonlyArray<string>,
  body: string | Uint8Array | null
) => {
  const headers = new Headers(single)
  for (const cookie of cookies) headers.append("set-cookie", cookie)
  const sent = typeof body === "string" || body === null ? body : new Uint8Array(body)
  return HttpServerResponse.raw(new Response(sent, { status, headers }), { status })
}

/** Runs what the target names, if its method can be an endpoint's. */
export const answerWebhook = (
  webhooks: Webhooks["Service"],
  request: HttpServerRequest.HttpServerRequest,
  target: WebhookTarget | null
) => atRoute(webhookRoute, runWebhook(webhooks, request, target))

const runWebhook = Effect.fnUntraced(function* (
  webhooks: Webhooks["Service"],
  request: HttpServerRequest.HttpServerRequest,
  target: WebhookTarget | null
) {
  if (target === null || !webhookMethods.has(request.method)) return yield* noSuchRoute
  return responseOf(request, yield* webhooks.handle(yield* callOf(request, target)))
})

export const WebhookRoute = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const webhooks = yield* Webhooks
    yield* router.add("*", "/webhook/*", (request) => answerWebhook(webhooks, request, parseWebhookTarget(request.url)))
  })
)
