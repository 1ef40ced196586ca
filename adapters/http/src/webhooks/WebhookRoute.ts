/** The webhook route on `effect`'s request: for fetch hosts, Effect hosts and whatever the fast path leaves. */
import { currentRequestId } from "@weft/api"
import { NotFound, type WebhookAnswer, type WebhookCall, Webhooks } from "@weft/core"
import { Effect, Option } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { toResponse } from "../answers/Answer.ts"
import { noteRoute } from "../metrics/CurrentRoute.ts"
import { hasNoBody, sentHeaders } from "./WebhookHeaders.ts"
import { bearerToken, parseWebhookTarget, type WebhookTarget, webhookMethods, webhookRoute } from "./WebhookTarget.ts"

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

const responseOf = (answer: WebhookAnswer): HttpServerResponse.HttpServerResponse => {
  const headers = sentHeaders(answer, currentRequestId())
  return hasNoBody(answer.status)
    ? HttpServerResponse.empty({ status: answer.status, headers })
    : toResponse({ status: answer.status, headers, body: answer.body })
}

/** Runs what the target names, if its method can be an endpoint's. */
export const answerWebhook = Effect.fnUntraced(function* (
  webhooks: Webhooks["Service"],
  request: HttpServerRequest.HttpServerRequest,
  target: WebhookTarget | null
) {
  yield* noteRoute(webhookRoute)
  if (target === null || !webhookMethods.has(request.method)) return yield* noSuchRoute
  return responseOf(yield* webhooks.handle(yield* callOf(request, target)))
})

export const WebhookRoute = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const webhooks = yield* Webhooks
    yield* router.add("*", "/webhook/*", (request) => answerWebhook(webhooks, request, parseWebhookTarget(request.url)))
  })
)
