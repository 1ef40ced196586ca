/** Every failure, wherever it comes from, becomes an answer in the error envelope with the request's id. */
import { currentRequestId, Enveloped } from "@weft/api"
import { BadRequest, CurrentOrigin, NotFound } from "@weft/core"
import { Cause, Effect, Layer } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { clientAddress } from "../access/ClientAddress.ts"
import { atRoute, inRequestSpan } from "../tracing/RequestSpan.ts"
import { toResponse } from "./Answer.ts"
import { type Failure, failureAnswer, failureOf, internal, isOutage } from "./Failure.ts"
import { inputFault } from "./InputFault.ts"
import { holdsSecret, unstored } from "./SecretAnswers.ts"

type Response = HttpServerResponse.HttpServerResponse

const respond = (failure: Failure): Response => toResponse(failureAnswer(failure, currentRequestId()))

const respondTo = (error: BadRequest | NotFound): Response => respond(failureOf(error) ?? internal)

/** Logs what the client is not told. */
const logFailure = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.suspend(() =>
    inRequestSpan(Effect.annotateLogs(Effect.logError(message, cause), { request_id: currentRequestId() }))
  )

/** The answer to an error that a handler or a middleware failed with. */
const answerError = (error: unknown): Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest> => {
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
  const failure = failureOf(error)
  if (failure === null) return Effect.as(logFailure("a request failed", Cause.die(error)), respond(internal))
  return isOutage(error)
    ? Effect.as(logFailure("a request met an outage", Cause.fail(error)), respond(failure))
    : Effect.succeed(respond(failure))
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
 * Inside the API: errors are answered here, so that how they look is decided in one place. What a function or a protocol
 * answers by itself is none of them.
 */
export const EnvelopedLive: Layer.Layer<Enveloped> = Layer.succeed(Enveloped, (httpEffect, { endpoint, group }) => {
  const answered = Effect.catch(Effect.map(httpEffect, envelop), answerError)
  const isSecret = holdsSecret(group.identifier, endpoint.identifier)
  return atRoute(endpoint.path, isSecret ? Effect.map(answered, unstored) : answered)
})

/** What `effect` itself refuses, such as another content type, it answers without an envelope. */
const envelop = (response: Response): Response => {
  if (response.status < 400 || response.headers["content-type"]?.startsWith("application/json")) return response
  if (response.status === 415) {
    return respondTo(new BadRequest({ reason: "Content-Type is not one that this endpoint takes" }))
  }
  return response.status < 500 ? respondTo(new BadRequest({ reason: "The request is not valid" })) : respond(internal)
}

const answerCause = (
  cause: Cause.Cause<unknown>
): Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest> => {
  const reason = cause.reasons.find((one) => one._tag !== "Interrupt")
  if (reason !== undefined) return answerError(reason._tag === "Fail" ? reason.error : reason.defect)
  const isAbort = cause.reasons.some((one) => one.annotations.has(HttpServerError.ClientAbort.key))
  // Nobody reads the answer of an aborted request; of one that the server's end cut off, somebody does.
  return Effect.succeed(respond({ ...internal, retryAfterSeconds: isAbort ? null : 1 }))
}

/** Around everything: gives the request its id, says where it comes from, and lets no failure through. */
export const enveloped = <E, R>(
  app: Effect.Effect<Response, E, R>,
  nextId: () => string,
  trustProxy: boolean
): Effect.Effect<Response, never, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const id = nextId()
    const origin = { id, address: () => clientAddress(request, trustProxy), isAdmin: false }
    return Effect.matchCauseEffect(app, {
      onSuccess: (response) => Effect.sync(() => HttpServerResponse.setHeader(response, "x-request-id", id)),
      onFailure: answerCause
    }).pipe(Effect.provideService(CurrentOrigin, origin))
  })
