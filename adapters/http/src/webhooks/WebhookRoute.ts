/** The webhook route on `effect`'s request: for fetch hosts, Effect hosts and whatever the fast path leaves. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { currentRequestId } from "@weft/api"
import { BadRequest, NotFound, type WebhookAnswer, type WebhookCall, Webhooks } from "@weft/core"
import { Effect, Option, Stream } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { bearerToken } from "../access/BearerToken.ts"
import { toResponse } from "../answers/Answer.ts"
import { busyAnswer } from "../answers/Failure.ts"
import { atRoute } from "../tracing/RequestSpan.ts"
import { type HeldBodies, HeldBody } from "./HeldBodies.ts"
import { asksForServiceWorker } from "./SharedOrigin.ts"
import { hasNoBody, sentHeaders } from "./WebhookHeaders.ts"
import { parseWebhookTarget, type WebhookTarget, webhookMethods, webhookRoute } from "./WebhookTarget.ts"

const noSuchRoute = new NotFound({ resource: "route" })

const tooLarge = new BadRequest({ reason: "The body is too large" })

/** What the route needs of the app. */
export interface WebhookHost {
  readonly webhooks: Webhooks["Service"]
  readonly bodies: HeldBodies
}

/** The call, still without its body. */
const callOf = (request: HttpServerRequest.HttpServerRequest, target: WebhookTarget): WebhookCall => ({
  ...target,
  method: request.method,
  headers: { ...request.headers },
  body: null,
  remoteIp: Option.getOrElse(request.remoteAddress, () => ""),
  token: bearerToken(request.headers.authorization)
})

const hasBody = ({ source, headers }: HttpServerRequest.HttpServerRequest): boolean =>
  source instanceof Request
    ? source.body !== null
    : headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined

const readBody = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  held: HeldBody,
  bytesMax: number
) {
  if (!hasBody(request)) return
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) return yield* tooLarge
  let bytes = 0
  yield* Stream.runForEach(request.stream, (piece) => {
    bytes += piece.length
    if (bytes > bytesMax) return Effect.fail(tooLarge)
    held.add(piece)
    return Effect.void
  })
})

const responseOf = (request: HttpServerRequest.HttpServerRequest, answer: WebhookAnswer, isShared: boolean) => {
  const { status } = answer
  const { single: headers, cookies } = sentHeaders(answer, currentRequestId(), isShared)
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

/** Runs what the target names, if its method can be an endpoint's. `isShared` as `sentHeaders` has it. */
export const answerWebhook = (
  host: WebhookHost,
  request: HttpServerRequest.HttpServerRequest,
  target: WebhookTarget | null,
  isShared: boolean
) => atRoute(webhookRoute, runWebhook(host, request, target, isShared))

const runWebhook = Effect.fnUntraced(function* (
  { webhooks, bodies }: WebhookHost,
  request: HttpServerRequest.HttpServerRequest,
  target: WebhookTarget | null,
  isShared: boolean
) {
  if (target === null || !webhookMethods.has(request.method)) return yield* noSuchRoute
  if (isShared && asksForServiceWorker(request.headers)) return yield* noSuchRoute
  const call = callOf(request, target)
  const held = new HeldBody(bodies)
  const handled = Effect.gen(function* () {
    // Who may not call is told that, and not what is wrong with the body.
    yield* Effect.tapError(readBody(request, held, bodies.eachBytes), () => webhooks.admit(call))
    const body = held.take()
    if (body === null) return toResponse(busyAnswer(currentRequestId()))
    const answer = yield* webhooks.handle({ ...call, body: body.length === 0 ? null : body })
    return responseOf(request, answer, isShared)
  })
  return yield* Effect.ensuring(
    handled,
    Effect.sync(() => held.letGo())
  )
})

export const webhookRouteLive = (bodies: HeldBodies) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const host = { webhooks: yield* Webhooks, bodies }
      yield* router.add("*", "/webhook/*", (request) =>
        answerWebhook(host, request, parseWebhookTarget(request.url), true)
      )
    })
  )
