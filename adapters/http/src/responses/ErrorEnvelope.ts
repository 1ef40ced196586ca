/** Converts every failure into a response in the error envelope, with the request's id. */
import { currentRequestId, Enveloped, hasSecretResponse } from "@weft/api"
import { BadRequest, NotFound } from "@weft/core"
import { CurrentOrigin } from "@weft/core/adapter"
import { Cause, Effect, Layer } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { clientAddress } from "../access/ClientAddress.ts"
import { BodyBudgetExceeded } from "../bodies/BodyBudgetExceeded.ts"
import { inRequestSpan, withRoute } from "../tracing/RequestSpan.ts"
import {
  busyResponse,
  type Failure,
  failureResponse,
  firstError,
  internal,
  interrupted,
  reportError
} from "./Failure.ts"
import { inputFault } from "./InputFault.ts"
import { toResponse } from "./PlainResponse.ts"

type Response = HttpServerResponse.HttpServerResponse

const respond = (failure: Failure): Response => toResponse(failureResponse(failure, currentRequestId()))

const respondTo = (error: BadRequest | NotFound): Response => respond(reportError(error).failure)

/** Logs the details that the response omits. */
const logFailure = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.suspend(() =>
    inRequestSpan(Effect.annotateLogs(Effect.logError(message, cause), { request_id: currentRequestId() }))
  )

/** Returns the response to an error of a handler or middleware. */
const respondToError = (error: unknown): Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest> => {
  if (HttpApiError.HttpApiSchemaError.is(error) && error.kind !== "Body" && error.kind !== "ResponseHeaders") {
    return Effect.map(
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => inputFault(error, request)),
      respondTo
    )
  }
  if (HttpServerError.isHttpServerError(error)) {
    const refused = transportFault(error)
    if (refused !== null) return Effect.succeed(respondTo(refused))
  }
  if (error instanceof BodyBudgetExceeded) return Effect.succeed(toResponse(busyResponse(currentRequestId())))
  const { failure, logged } = reportError(error)
  if (logged === null) return Effect.succeed(respond(failure))
  return Effect.as(
    logged === "bug"
      ? logFailure("a request failed", Cause.die(error))
      : logFailure("a request met an outage", Cause.fail(error)),
    respond(failure)
  )
}

const transportFault = (error: HttpServerError.HttpServerError): BadRequest | NotFound | null => {
  const { reason } = error
  if (reason._tag === "RouteNotFound") return new NotFound({ resource: "route" })
  if (reason._tag !== "RequestParseError") return null
  return new BadRequest({
    reason: reason.reason === "BodyTooLarge" ? "The body is too large" : "The body could not be read"
  })
}

/**
 * Converts errors of API handlers into responses, so that their format is defined in one place. Responses of functions
 * and of the MCP protocol pass unchanged.
 */
export const EnvelopedLive: Layer.Layer<Enveloped> = Layer.succeed(Enveloped, (httpEffect, { endpoint }) => {
  const answered = Effect.catch(Effect.map(httpEffect, toEnvelope), respondToError)
  return withRoute(endpoint.path, hasSecretResponse(endpoint) ? Effect.map(answered, withNoStore) : answered)
})

/** Forbids caches between the server and the client to store the response. */
const withNoStore = (response: Response): Response =>
  HttpServerResponse.setHeader(response, "cache-control", "no-store")

/** Wraps rejections by `effect` itself, such as an unsupported content type, which have no envelope. */
const toEnvelope = (response: Response): Response => {
  if (response.status < 400 || response.headers["content-type"]?.startsWith("application/json")) return response
  if (response.status === 415) {
    return respondTo(new BadRequest({ reason: "This endpoint does not accept the Content-Type of the request" }))
  }
  return response.status < 500 ? respondTo(new BadRequest({ reason: "The request is not valid" })) : respond(internal)
}

const respondToCause = (
  cause: Cause.Cause<unknown>
): Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest> => {
  const found = firstError(cause)
  if (found !== null) return respondToError(found.error)
  const isAbort = cause.reasons.some((one) => one.annotations.has(HttpServerError.ClientAbort.key))
  // A client that aborted its request does not read the response. One whose request a shutdown interrupted does.
  return Effect.succeed(respond(isAbort ? internal : interrupted))
}

/** Wraps the whole app: assigns the request's id and origin, and converts every failure into a response. */
export const withErrorEnvelope = <E, R>(
  app: Effect.Effect<Response, E, R>,
  nextId: () => string,
  trustProxy: boolean
): Effect.Effect<Response, never, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const id = nextId()
    const origin = { id, address: () => clientAddress(request, trustProxy), isAdmin: false }
    return Effect.matchCauseEffect(app, {
      onSuccess: (response) => Effect.sync(() => HttpServerResponse.setHeader(response, "x-request-id", id)),
      onFailure: respondToCause
    }).pipe(Effect.provideService(CurrentOrigin, origin))
  })
