/**
 * Tools for models, by the Model Context Protocol: streamable HTTP at `/mcp/{org}/{env}/{service}`.
 *
 * A request that may not come in is answered as everywhere, before the protocol begins. Messages come by POST and are
 * answered with JSON; there is no stream of the server's own, so that GET and DELETE are 405, as the protocol has it.
 */
import { currentRequestId } from "@weft/api"
import { BadRequest, NotFound, Tools } from "@weft/core"
import { Context, Effect, Tracer } from "effect"
import { HttpRouter, type HttpServerRequest } from "effect/http"
import { bearerToken } from "../access/BearerToken.ts"
import { toResponse } from "../answers/Answer.ts"
import { failureAnswer, internal } from "../answers/Failure.ts"
import { atRoute } from "../tracing/RequestSpan.ts"
import type { McpHost } from "./McpExchange.ts"
import { mcpRoute, parseMcpTarget } from "./McpTarget.ts"
import { RunningCalls } from "./RunningCalls.ts"
import { makeSchemaChecks } from "./SchemaChecks.ts"

const sessionHeader = "mcp-session-id"

const noSuchRoute = new NotFound({ resource: "route" })
const noBatch = new BadRequest({ reason: "The body must be one message: batches are not taken" })
const notJson = new BadRequest({ reason: "The body must be JSON" })

export const mcpRouteLive = (version: string) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const tools = yield* Tools
      const checks = yield* makeSchemaChecks
      const context = yield* Effect.context<never>()
      const host: McpHost = { tools, checks, running: new RunningCalls(), version, context }
      yield* router.add("*", "/mcp/*", (request) => atRoute(mcpRoute, answer(host, request)))
    })
  )

const answer = Effect.fnUntraced(function* (host: McpHost, request: HttpServerRequest.HttpServerRequest) {
  const target = parseMcpTarget(request.url)
  if (target === null) return yield* noSuchRoute
  const service = yield* host.tools.enter({ ...target, token: bearerToken(request.headers.authorization) })
  if (request.method !== "POST") return notAllowed()

  const body = yield* readJson(request)
  if (Array.isArray(body)) return yield* noBatch
  const { headers } = request
  const session = headers[sessionHeader]
  // Whoever guesses another's session still has another credential.
  const client = session === undefined ? null : `${service.caller.id} ${target.service} ${session}`
  const sent = new Request("http://localhost/mcp", { method: "POST", headers: sentOn(headers) })
  const { answerMessage } = yield* exchange
  const response = yield* answerMessage(yield* inSpan(host), service, client, sent, body)
  const answered: Record<string, string> = {
    ...Object.fromEntries(response.headers),
    "x-request-id": currentRequestId()
  }
  if (isInitialize(body)) answered[sessionHeader] = currentRequestId()
  return toResponse({
    status: response.status,
    headers: answered,
    body: yield* Effect.promise(() => response.text())
  })
})

/** The SDK takes a while to load, and most servers never need it: with the first message. */
const exchange = Effect.promise(() => import("./McpExchange.ts"))

/** What the protocol's own code calls back are parts of this request. */
const inSpan = (host: McpHost): Effect.Effect<McpHost> =>
  Effect.withFiber(({ cache: { span } }) =>
    Effect.succeed(span === undefined ? host : { ...host, context: Context.add(host.context, Tracer.ParentSpan, span) })
  )

const readJson = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.flatMap(request.text, (text) => Effect.try({ try: (): unknown => JSON.parse(text), catch: () => notJson }))

/**
 * The headers that the protocol is about. The answer is JSON, whatever the client takes, and what it sent was read as
 * JSON: to insist that it says so would keep out many for nothing.
 */
const sentOn = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> => {
  const version = headers["mcp-protocol-version"]
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(version === undefined ? {} : { "mcp-protocol-version": version })
  }
}

const isInitialize = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "method" in body && body.method === "initialize"

const notAllowed = () => {
  const refused = failureAnswer(
    { ...internal, code: "bad_request", message: "Messages come by POST" },
    currentRequestId()
  )
  return toResponse({ ...refused, status: 405, headers: { ...refused.headers, allow: "POST" } })
}
