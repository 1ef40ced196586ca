/**
 * Core's errors as they stand on the wire: the envelope `{ error: { code, message, request_id } }` and a status.
 *
 * Endpoints declare them, so that the document names them and a typed client gets the classes back. The message is
 * all that travels, hence each decoder finds the class's field in it.
 */
import {
  BadRequest,
  DomainExists,
  DomainLimitReached,
  Forbidden,
  NotFound,
  PermissionEscalation,
  PlanRequired,
  RateLimited,
  SandboxUnavailable,
  SessionLimitExceeded,
  StoreUnavailable,
  Unauthorized
} from "@weft/core"
import { Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { currentRequestId } from "../envelope/RequestInfo.ts"
import { type ErrorCode, errorStatus, internalMessage } from "./Catalogue.ts"

const envelope = (identifier: string, code: ErrorCode) =>
  Schema.Struct({
    error: Schema.Struct({
      code: Schema.Literal(code),
      message: Schema.String,
      request_id: Schema.String.annotate({ format: "uuid" })
    })
  }).annotate({ identifier })

const body = (code: ErrorCode, message: string) => ({ error: { code, message, request_id: currentRequestId() } })

/** What follows `prefix` in a message that our own classes wrote. */
const after = (prefix: string, message: string): string =>
  message.startsWith(prefix) ? message.slice(prefix.length) : message

const onWire = <E extends { readonly message: string }>(
  error: Schema.Codec<E, E>,
  identifier: string,
  code: ErrorCode,
  decode: (message: string) => E
) =>
  envelope(identifier, code).pipe(
    Schema.decodeTo(
      error,
      SchemaTransformation.transform({
        decode: (wire) => decode(wire.error.message),
        encode: (failure) => body(code, failure.message)
      })
    ),
    HttpApiSchema.status(errorStatus[code])
  )

export const UnauthorizedError = onWire(
  Schema.toType(Unauthorized),
  "UnauthorizedError",
  "unauthorized",
  () => new Unauthorized({})
)

export const ForbiddenError = onWire(
  Schema.toType(Forbidden),
  "ForbiddenError",
  "forbidden",
  (message) => new Forbidden({ permission: after("This credential lacks the permission ", message) })
)

export const PlanRequiredError = onWire(
  Schema.toType(PlanRequired),
  "PlanRequiredError",
  "plan_required",
  (message) => new PlanRequired({ reason: message })
)

export const PermissionEscalationError = onWire(
  Schema.toType(PermissionEscalation),
  "PermissionEscalationError",
  "permission_escalation",
  (message) =>
    new PermissionEscalation({
      permission: after("The permission ", message).replace(/ exceeds those of the creating credential$/, "")
    })
)

/** The limit that a message of ours names; 0 for another message. */
const numberIn = (message: string): number => Number(/\d+/.exec(message)?.[0] ?? 0)

export const DomainLimitReachedError = onWire(
  Schema.toType(DomainLimitReached),
  "DomainLimitReachedError",
  "domain_limit_reached",
  (message) => new DomainLimitReached({ limit: numberIn(message) })
)

export const DomainExistsError = onWire(
  Schema.toType(DomainExists),
  "DomainExistsError",
  "domain_exists",
  () => new DomainExists({})
)

export const SessionLimitExceededError = onWire(
  Schema.toType(SessionLimitExceeded),
  "SessionLimitExceededError",
  "session_limit_exceeded",
  (message) => new SessionLimitExceeded({ limit: numberIn(message) })
)

export const NotFoundError = onWire(
  Schema.toType(NotFound),
  "NotFoundError",
  "not_found",
  (message) => new NotFound({ resource: after("There is no such ", message) })
)

export const BadRequestError = onWire(
  Schema.toType(BadRequest),
  "BadRequestError",
  "bad_request",
  (message) => new BadRequest({ reason: message })
)

export const RateLimitedError = RateLimited.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: envelope("RateLimitedError", "rate_limit_exceeded").pipe(HttpApiSchema.status(429)),
      headers: { "retry-after": Schema.Int }
    },
    {
      decode: ({ headers }) => new RateLimited({ retryAfterSeconds: headers["retry-after"] }),
      encode: (failure) => ({
        body: body("rate_limit_exceeded", failure.message),
        headers: { "retry-after": failure.retryAfterSeconds }
      })
    }
  )
)

/** The store or the sandbox did not answer. Which one, and why, is for the server's log. */
export const UnavailableError = onWire(
  Schema.Union([Schema.toType(StoreUnavailable), Schema.toType(SandboxUnavailable)]),
  "InternalServerError",
  "internal_server_error",
  () => new StoreUnavailable({ operation: "the request", cause: internalMessage })
)

/** What balancers understand of a node that cannot do anything for now. */
export const NotReadyError = onWire(
  Schema.toType(StoreUnavailable),
  "NotReadyError",
  "internal_server_error",
  () => new StoreUnavailable({ operation: "the request", cause: internalMessage })
).pipe(HttpApiSchema.status(503))
