/**
 * `/tokens/{secret}`: completes a token of a durable run. The secret is the credential.
 *
 * `POST` with JSON answers in JSON. The button of the page posts a form without fields, and gets a page. Errors are pages for
 * browsers, which accept HTML.
 */
import { CompletedTokenRecord, errorStatus, meta, TokenCompletionInput } from "@weft/api"
import { BadRequest, NotFound, TokenCompleted, TokenExpired, Tokens } from "@weft/core"
import { Effect, Schema } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { hasBody } from "../bodies/BufferedRequests.ts"
import { bodyTooLarge } from "../bodies/ReadBody.ts"
import { withRoute } from "../tracing/RequestSpan.ts"
import { donePage, openPage, refusedPage } from "./TokenPage.ts"

const prefix = "/tokens/"

/** The route in metrics and spans, which must not contain secrets. */
const route = "/tokens/:secret"

/** Maximum characters of a body: 256 KiB of data and the object around it. */
const bodyLengthMax = 256 * 1024 + 1024

/** True if a URL is that of a token. */
export const isTokenPath = (url: string): boolean => url.startsWith(prefix)

type ServerRequest = HttpServerRequest.HttpServerRequest

/** Returns the secret in a URL. An unknown secret is 404. */
const readSecret = (url: string): string => {
  const path = url.slice(prefix.length)
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

const parseInput = Schema.decodeUnknownEffect(Schema.fromJsonString(TokenCompletionInput))

/** Reads the data of a completion. An empty body has none. */
const readData = Effect.fnUntraced(function* (request: ServerRequest, isForm: boolean) {
  if (!hasBody(request)) return undefined
  if (Number(request.headers["content-length"] ?? 0) > bodyLengthMax) return yield* Effect.fail(bodyTooLarge)
  const text = yield* request.text
  if (text.length > bodyLengthMax) return yield* Effect.fail(bodyTooLarge)
  if (text.trim() === "") return undefined
  if (isForm) return yield* new BadRequest({ reason: "A form must have no fields: send data as JSON" })
  const { data } = yield* Effect.catchTag(parseInput(text), "SchemaError", () =>
    Effect.fail(new BadRequest({ reason: "The body must be a JSON object with the field data, or empty" }))
  )
  return data
})

type Refusal = NotFound | TokenCompleted | TokenExpired

const isRefusal = <E>(error: E): error is Extract<E, Refusal> =>
  error instanceof NotFound || error instanceof TokenCompleted || error instanceof TokenExpired

/** Answers refusals with a page instead of JSON. */
const asPage = <E, R>(page: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.catchIf(
    page,
    isRefusal,
    ({ code, message }) => Effect.succeed(refusedPage(errorStatus[code], message)),
    (error) => Effect.fail(error)
  )

const encodeToken = Schema.encodeEffect(CompletedTokenRecord)

const complete = Effect.fnUntraced(function* (tokens: Tokens["Service"], request: ServerRequest) {
  const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true
  const completed = Effect.flatMap(readData(request, isForm), (data) => tokens.complete(readSecret(request.url), data))
  if (isForm) return yield* asPage(Effect.map(completed, ({ name }) => donePage(name)))
  const data = yield* Effect.orDie(encodeToken(yield* completed))
  const headers = { "cache-control": "no-store" }
  return HttpServerResponse.text(JSON.stringify({ data, meta: meta() }), { contentType: "application/json", headers })
})

export const tokenRouteLive = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const tokens = yield* Tokens
    yield* router.add("GET", "/tokens/*", ({ url, headers }) => {
      const page = Effect.map(tokens.look(readSecret(url)), openPage)
      return withRoute(route, headers.accept?.includes("text/html") === true ? asPage(page) : page)
    })
    yield* router.add("POST", "/tokens/*", (request) => withRoute(route, complete(tokens, request)))
  })
)
