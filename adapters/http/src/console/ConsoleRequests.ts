/**
 * Requests of the console's page to the API: `/console/api/v1/…` is `/v1/…` with the cookie as credential.
 *
 * The API itself never reads cookies. A page of another origin cannot send the header that every request needs: its
 * browser asks first, and Weft permits no other origin.
 */
import { BadRequest, Unauthorized } from "@weft/core"
import type { ConsoleSessions } from "@weft/core/internal"
import { Context, Effect, Redacted } from "effect"
import { Headers, HttpServerRequest } from "effect/http"
import { withRoute } from "../tracing/RequestSpan.ts"
import { readTicket } from "./ConsoleCookie.ts"
import { apiUrlOf, consoleRoute } from "./ConsolePath.ts"

/** True for a request with the cookie of the console, whose session stands for its API key. */
export const IsConsoleRequest = Context.Reference<boolean>("@weft/http/console/IsConsoleRequest", {
  defaultValue: () => false
})

/** Fails unless the console's own page sent the request. */
export const requireOwnPage = ({ headers }: HttpServerRequest.HttpServerRequest): Effect.Effect<void, BadRequest> => {
  const site = headers["sec-fetch-site"]
  return headers["x-weft-console"] === "1" && (site === undefined || site === "same-origin")
    ? Effect.void
    : Effect.fail(foreignPage)
}

const foreignPage = new BadRequest({
  reason: "Only the page of the console may send this request: send a bearer token to /v1 instead"
})

/** Wraps the routes: turns requests of the page into requests of the API. Without a service, the console is off. */
export const withConsoleRequests = <A, E, R>(
  routed: Effect.Effect<A, E, R>,
  sessions: ConsoleSessions["Service"] | null
) => {
  if (sessions === null) return routed
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const url = apiUrlOf(request.url)
    return url === null
      ? routed
      : Effect.flatMap(authenticate(sessions, request), (token) => {
          const { cookie: _cookie, ...headers } = request.headers
          const modified = request.modify({
            url,
            headers: Headers.fromInput({ ...headers, authorization: `Bearer ${token}` })
          })
          return routed.pipe(
            Effect.provideService(HttpServerRequest.HttpServerRequest, modified),
            Effect.provideService(IsConsoleRequest, true)
          )
        })
  })
}

const authenticate = (sessions: ConsoleSessions["Service"], request: HttpServerRequest.HttpServerRequest) => {
  const ticket = readTicket(request)
  const opened = Effect.flatMap(
    ticket === null ? Effect.fail(new Unauthorized({})) : sessions.open(ticket),
    ({ token }) => Effect.succeed(Redacted.value(token))
  )
  return Effect.tapError(Effect.andThen(requireOwnPage(request), opened), () => withRoute(consoleRoute, Effect.void))
}
