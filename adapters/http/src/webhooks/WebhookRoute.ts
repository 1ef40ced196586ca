/** The webhook route on `effect`'s request: for fetch hosts, Effect hosts and requests that the fast path skips. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { currentRequestId } from "@weft/api"
import { Webhooks } from "@weft/core"
import type { DomainRoute } from "@weft/core/adapter"
import { Effect, Option } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { BodyMemoryBudget } from "../bodies/BodyMemoryBudget.ts"
import { BufferedBody } from "../bodies/BufferedBody.ts"
import { hasBody } from "../bodies/BufferedRequests.ts"
import { bodyTooLarge, readBody } from "../bodies/ReadBody.ts"
import { toResponse } from "../responses/PlainResponse.ts"
import { withRoute } from "../tracing/RequestSpan.ts"
import { selectRange } from "./AnswerRange.ts"
import { buildCall, decideWebhook, toWebhookResponse, type WebhookResponse } from "./WebhookDecision.ts"
import { type WebhookTarget, webhookRoute } from "./WebhookTarget.ts"

/** Dependencies of the route. */
export interface WebhookHost {
  readonly webhooks: Webhooks["Service"]
  readonly bodyBudget: BodyMemoryBudget
  /** True if the console is on the same host. */
  readonly isByConsole: boolean
}

type ServerRequest = HttpServerRequest.HttpServerRequest

/** Reads the body, if the call has one. Callers without permission get 401 or 403 instead of the body's error. */
const readCallBody = (request: ServerRequest, { _tag }: WebhookTarget, buffered: BufferedBody, maxBytes: number) => {
  if (_tag === "Invoke") return Effect.void
  return _tag === "RefuseBody" ? Effect.fail(bodyTooLarge) : readBody(request, buffered, maxBytes)
}

const toCall = (request: ServerRequest, target: WebhookTarget, body: Uint8Array | null) => {
  const remoteIp = Option.getOrElse(request.remoteAddress, () => "")
  return buildCall(target, request.method, { ...request.headers }, remoteIp, body)
}

const writeResponse = (request: ServerRequest, { status, headers, cookies, body }: WebhookResponse) => {
  if (cookies !== null) {
    // `effect`'s response holds one header per name, and its cookies drop unknown attributes.
    if (request.source instanceof Request) return webResponse(status, headers, cookies, body)
    const response = NodeHttpServerRequest.toServerResponse(request)
    // `effect` sets the other headers again without changing their order, which thus equals the fast path's.
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

/** Handles a request. `route` is the route of its custom domain, or null on the shared origin. */
export const handleWebhook = (
  { webhooks, bodyBudget, isByConsole }: WebhookHost,
  request: ServerRequest,
  route: DomainRoute | null
) => {
  const decision = decideWebhook(request, route, hasBody(request), bodyBudget.maxBodyBytes)
  if (decision._tag !== "Reject")
    return withRoute(webhookRoute, runWebhook(webhooks, bodyBudget, request, decision, isByConsole))
  const rejection = Effect.fail(decision.error)
  return decision.route === null ? rejection : withRoute(decision.route, rejection)
}

const runWebhook = (
  webhooks: Webhooks["Service"],
  bodyBudget: BodyMemoryBudget,
  request: ServerRequest,
  target: WebhookTarget,
  isByConsole: boolean
) =>
  Effect.suspend(() => {
    const buffered = new BufferedBody(bodyBudget)
    const response = Effect.gen(function* () {
      yield* Effect.tapError(readCallBody(request, target, buffered, bodyBudget.maxBodyBytes), () =>
        webhooks.admit(toCall(request, target, null))
      )
      const answer = yield* webhooks.handle(toCall(request, target, buffered.take()))
      const response = toWebhookResponse(answer, currentRequestId(), target.isShared, isByConsole)
      return writeResponse(request, selectRange(response, request.method, request.headers))
    })
    return Effect.ensuring(
      response,
      Effect.sync(() => buffered.release())
    )
  })

export const webhookRouteLive = (bodyBudget: BodyMemoryBudget, isByConsole: boolean) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const host = { webhooks: yield* Webhooks, bodyBudget, isByConsole }
      yield* router.add("*", "/webhook/*", (request) => handleWebhook(host, request, null))
    })
  )
