/**
 * MCP tools for models (Model Context Protocol): streamable HTTP at `/mcp/{org}/{env}/{service}`.
 *
 * Authentication failures get the same response as on other routes, before the protocol starts. Messages come by POST and
 * get JSON. There is no stream from the server, so GET and DELETE are 405, as the protocol specifies.
 */
import { currentRequestId } from "@weft/api"
import { BadRequest, type EnvId, NotFound } from "@weft/core"
import { nextTurn, Turns } from "@weft/core/adapter"
import { Tools } from "@weft/core/internal"
import { Context, Effect, Tracer } from "effect"
import { HttpRouter, type HttpServerRequest } from "effect/http"
import { bearerToken } from "../access/BearerToken.ts"
import { failureResponse, internal } from "../responses/Failure.ts"
import { toResponse } from "../responses/PlainResponse.ts"
import { withRoute } from "../tracing/RequestSpan.ts"
import { ActiveToolCalls } from "./ActiveToolCalls.ts"
import { makeArgumentValidator } from "./ArgumentValidator.ts"
import type { McpHost } from "./McpExchange.ts"
import { mcpRoute, parseMcpTarget } from "./McpTarget.ts"

const sessionHeader = "mcp-session-id"

const routeNotFound = new NotFound({ resource: "route" })
const batchesUnsupported = new BadRequest({ reason: "The body must be one message; batches are not supported" })
const notJson = new BadRequest({ reason: "The body must be JSON" })

export const mcpRouteLive = (version: string) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const tools = yield* Tools
      const validator = yield* makeArgumentValidator
      const context = yield* Effect.context<never>()
      const host: McpHost = { tools, validator, activeCalls: new ActiveToolCalls(), version, context }
      yield* router.add("*", "/mcp/*", (request) => withRoute(mcpRoute, handle(host, request)))
    })
  )

const handle = Effect.fnUntraced(function* (host: McpHost, request: HttpServerRequest.HttpServerRequest) {
  const target = parseMcpTarget(request.url)
  if (target === null) return yield* routeNotFound
  const service = yield* host.tools.enter({ ...target, token: bearerToken(request.headers.authorization) })
  if (request.method !== "POST") return methodNotAllowed()

  const body = yield* readJson(request, service.caller.env_id)
  if (Array.isArray(body)) return yield* batchesUnsupported
  const { headers } = request
  const session = headers[sessionHeader]
  // The key includes the credential, so that a guessed session id of another caller has no effect.
  const client = session === undefined ? null : `${service.caller.id} ${target.service} ${session}`
  const forwarded = new Request("http://localhost/mcp", { method: "POST", headers: protocolHeaders(headers) })
  const { answerMessage } = yield* loadExchange
  const response = yield* answerMessage(yield* withRequestSpan(host), service, client, forwarded, body)
  const text = yield* Effect.promise(() => response.text())
  // To encode and write a list of tools is another long piece of work.
  if (text.length > longTextLength) yield* takeTurn(service.caller.env_id)
  const responseHeaders: Record<string, string> = {
    ...Object.fromEntries(response.headers),
    "x-request-id": currentRequestId()
  }
  if (isInitialize(body)) responseHeaders[sessionHeader] = currentRequestId()
  return toResponse({ status: response.status, headers: responseHeaders, body: text })
})

/** Responses above it are written in a turn of their own, in characters. */
const longTextLength = 64 * 1024

const takeTurn = (envId: EnvId) => Effect.flatMap(Turns, (turns) => nextTurn(turns, envId, "request"))

/** Loads the SDK with the first message, because it loads slowly and most servers never need it. */
const loadExchange = Effect.promise(() => import("./McpExchange.ts"))

/** Makes the callbacks of the SDK run in the span of this request. */
const withRequestSpan = (host: McpHost): Effect.Effect<McpHost> =>
  Effect.withFiber(({ cache: { span } }) =>
    Effect.succeed(span === undefined ? host : { ...host, context: Context.add(host.context, Tracer.ParentSpan, span) })
  )

/** Reads the message, and waits for a turn of the environment to handle it: a list of tools is a long piece of work. */
const readJson = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, envId: EnvId) {
  const text = yield* request.text
  yield* takeTurn(envId)
  return yield* Effect.try({ try: (): unknown => JSON.parse(text), catch: () => notJson })
})

/**
 * Returns the headers for the SDK, which requires `accept` and `content-type`. The body is JSON in both directions
 * regardless of the client's headers, so clients with other headers are accepted.
 */
const protocolHeaders = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> => {
  const version = headers["mcp-protocol-version"]
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(version === undefined ? {} : { "mcp-protocol-version": version })
  }
}

const isInitialize = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "method" in body && body.method === "initialize"

const methodNotAllowed = () => {
  const refused = failureResponse(
    { ...internal, code: "bad_request", message: "Use POST to send messages" },
    currentRequestId()
  )
  return toResponse({ ...refused, status: 405, headers: { ...refused.headers, allow: "POST" } })
}
