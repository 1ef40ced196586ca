/**
 * MCP services for models (Model Context Protocol): Streamable HTTP at `/mcp/{org}/{env}/{service}`.
 *
 * Authentication failures get the same response as on other routes, before the protocol starts. A message comes by POST
 * and gets JSON, or an event stream if its run sends messages to the client before the response. GET opens the stream of
 * a session, and DELETE ends a session.
 */
import { currentRequestId } from "@weft/api"
import { BadRequest, type EnvId, Evaluations, Forbidden, NotFound, Unauthorized } from "@weft/core"
import { McpSessions, type ToolAddress, type ToolService, Tools } from "@weft/core/internal"
import { Context, Effect, Tracer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { bearerToken } from "../access/BearerToken.ts"
import type { HttpSettings } from "../app/HttpOptions.ts"
import { failureResponse, internal, reportError } from "../responses/Failure.ts"
import { toResponse } from "../responses/PlainResponse.ts"
import type { EventStreams } from "../streams/EventStreams.ts"
import { withRoute } from "../tracing/RequestSpan.ts"
import { makeArgumentValidator } from "./ArgumentValidator.ts"
import type { McpHost } from "./McpExchange.ts"
import { type McpSession, newSessionId, readSession } from "./McpSession.ts"
import { type McpTarget, mcpRoute, parseMcpTarget } from "./McpTarget.ts"
import { takeMcpTurn } from "./McpTurn.ts"
import { isAllowedOrigin } from "./OriginCheck.ts"
import {
  baseUrl,
  challenge,
  describeProtectedResource,
  metadataRoute,
  parseMetadataTarget
} from "./ProtectedResource.ts"

const sessionHeader = "mcp-session-id"

const routeNotFound = new NotFound({ resource: "route" })
const batchesUnsupported = new BadRequest({ reason: "The body must be one message; batches are not supported" })
const notJson = new BadRequest({ reason: "The body must be JSON" })
const sessionMissing = new BadRequest({ reason: `The header ${sessionHeader} must be the id that initialize returned` })
const wrongOrigin = new Forbidden({ permission: "requests of this origin: see the option mcp.origins" })

interface RouteHost extends McpHost {
  readonly settings: HttpSettings
  readonly streams: EventStreams
}

type ServerRequest = HttpServerRequest.HttpServerRequest

export const mcpRouteLive = (settings: HttpSettings, streams: EventStreams) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { version, mcp, trustProxy } = settings
      const tools = yield* Tools
      const sessions = yield* McpSessions
      const validator = yield* makeArgumentValidator
      const context = yield* Effect.context<never>()
      const evaluations = mcp.runCode ? yield* Evaluations : null
      const host: RouteHost = { tools, sessions, validator, version, evaluations, context, settings, streams }
      yield* router.add("*", "/mcp/*", (request) => withRoute(mcpRoute, handle(host, request)))
      if (mcp.authorizationServers.length === 0) return
      yield* router.add("GET", `${metadataRoute}/*`, (request) => {
        const target = parseMetadataTarget(request.url)
        const base = baseUrl(tools.publicUrl(), request, trustProxy)
        const metadata =
          target === null ? routeNotFound : Effect.succeed(toMetadata(describeProtectedResource(base, target, mcp)))
        return withRoute(metadataRoute, metadata)
      })
    })
  )

const toMetadata = (metadata: object) =>
  toResponse({
    status: 200,
    headers: { "content-type": "application/json", "x-request-id": currentRequestId() },
    body: JSON.stringify(metadata)
  })

const handle = Effect.fnUntraced(function* (host: RouteHost, request: ServerRequest) {
  const target = parseMcpTarget(request.url)
  if (target === null) return yield* routeNotFound
  const { headers } = request
  const rules = { allowed: host.settings.mcp.origins, publicUrl: host.tools.publicUrl() }
  if (!isAllowedOrigin(headers.origin, headers.host, rules)) return yield* wrongOrigin
  const address = { ...target, token: bearerToken(headers.authorization) }
  return yield* Effect.matchEffect(host.tools.enter(address), {
    onFailure: (error) =>
      error instanceof Unauthorized || error instanceof Forbidden
        ? Effect.succeed(challenged(host, request, target, error))
        : Effect.fail(error),
    onSuccess: (service) => answer(host, request, address, service)
  })
})

/** Returns the response to a missing credential or permission, which names the authorization servers if there are any. */
const challenged = (host: RouteHost, request: ServerRequest, target: McpTarget, error: Unauthorized | Forbidden) => {
  const refused = failureResponse(reportError(error).failure, currentRequestId())
  if (host.settings.mcp.authorizationServers.length === 0) return toResponse(refused)
  const base = baseUrl(host.tools.publicUrl(), request, host.settings.trustProxy)
  const header = challenge(base, target, error instanceof Forbidden ? "insufficient_scope" : null)
  return toResponse({ ...refused, headers: { ...refused.headers, "www-authenticate": header } })
}

const answer = Effect.fnUntraced(function* (
  host: RouteHost,
  request: ServerRequest,
  address: ToolAddress,
  service: ToolService
) {
  const { caller } = service
  const id = request.headers[sessionHeader]
  // The key includes the credential, so that a guessed session id of another caller has no effect.
  const ref = { env_id: caller.env_id, key: `${caller.id} ${service.service}` }
  const session = id === undefined ? null : readSession(id, ref)
  if (request.method === "POST") return yield* answerPost(host, request, service, session)
  if (request.method === "GET") return yield* answerGet(host, address, session)
  if (request.method === "DELETE") return yield* answerDelete(host, session)
  return methodNotAllowed()
})

const answerGet = Effect.fnUntraced(function* (
  { sessions, streams, tools }: RouteHost,
  address: ToolAddress,
  session: McpSession | null
) {
  if (session === null) return yield* sessionMissing
  const { openSessionStream } = yield* loadStreams
  const isAuthorized = Effect.match(tools.enter(address), {
    // An outage or an exceeded rate does not revoke permissions.
    onFailure: ({ _tag }) => _tag === "StoreUnavailable" || _tag === "RateLimited",
    onSuccess: () => true
  })
  const headers = { "x-request-id": currentRequestId() }
  return yield* openSessionStream(sessions, streams, { session, isAuthorized, headers })
})

const answerDelete = Effect.fnUntraced(function* ({ sessions }: RouteHost, session: McpSession | null) {
  if (session === null) return yield* sessionMissing
  yield* sessions.end(session)
  return HttpServerResponse.empty({ status: 204 })
})

const answerPost = Effect.fnUntraced(function* (
  host: RouteHost,
  request: ServerRequest,
  service: ToolService,
  session: McpSession | null
) {
  const body = yield* readJson(request, service.caller.env_id)
  if (Array.isArray(body)) return yield* batchesUnsupported
  const { openExchange, parseMessage, streamExchange } = yield* loadProtocol
  const message = parseMessage(body, request.headers["mcp-protocol-version"])
  if (message._tag !== "Request") {
    if (message._tag === "Invalid") return yield* new BadRequest({ reason: message.reason })
    if (session !== null && message._tag === "Answer") yield* host.sessions.answer(session, message.id, message.text)
    if (session !== null && message._tag === "Cancelled") yield* host.sessions.cancel(session, message.id)
    return HttpServerResponse.empty({ status: 202 })
  }
  const requestId = currentRequestId()
  const call = { service, session, requestId }
  const exchange = yield* openExchange(yield* withRequestSpan(host), call, message.message)
  const first = yield* exchange.next
  const headers = {
    "x-request-id": requestId,
    ...(message.message.method === "initialize" ? { [sessionHeader]: newSessionId(requestId, body) } : {})
  }
  if (first !== null && "method" in first) return streamExchange(exchange, first, host.streams.timing, headers)
  const text = JSON.stringify(first)
  // To encode and write a list of tools is another long piece of work.
  if (text.length > longTextLength) yield* takeMcpTurn(service.caller.env_id)
  return toResponse({ status: 200, headers: { "content-type": "application/json", ...headers }, body: text })
})

/** Responses above it are written in a turn of their own, in characters. */
const longTextLength = 64 * 1024

/** Loads the SDK with the first message, because it loads slowly and most servers never need it. */
const loadProtocol = Effect.promise(async () => ({
  ...(await import("./McpExchange.ts")),
  ...(await import("./McpMessage.ts")),
  ...(await import("./McpStreams.ts"))
}))
const loadStreams = Effect.promise(() => import("./McpStreams.ts"))

/** Makes the callbacks of the SDK run in the span of this request. */
const withRequestSpan = <Host extends McpHost>(host: Host): Effect.Effect<Host> =>
  Effect.withFiber(({ cache: { span } }) =>
    Effect.succeed(span === undefined ? host : { ...host, context: Context.add(host.context, Tracer.ParentSpan, span) })
  )

/** Reads the message, and waits for a turn of the environment to handle it: a list of tools is a long piece of work. */
const readJson = Effect.fnUntraced(function* (request: ServerRequest, envId: EnvId) {
  const text = yield* request.text
  yield* takeMcpTurn(envId)
  return yield* Effect.try({ try: (): unknown => JSON.parse(text), catch: () => notJson })
})

const methodNotAllowed = () => {
  const refused = failureResponse(
    {
      ...internal,
      code: "bad_request",
      message: "Use POST to send messages, GET for a stream, DELETE to end a session"
    },
    currentRequestId()
  )
  return toResponse({ ...refused, status: 405, headers: { ...refused.headers, allow: "DELETE, GET, POST" } })
}
