/**
 * Wire format of the errors of core: the envelope `{ error: { code, message, request_id } }` and a status.
 *
 * Endpoints declare their errors, so that the document lists them and a typed client decodes them to the classes. The
 * envelope has no other fields, so each decoder parses the fields of the class from the message.
 */
import {
  BadRequest,
  Busy,
  CanaryActive,
  ContentDamaged,
  DeploymentRefused,
  DomainExists,
  DomainLimitReached,
  Forbidden,
  NotFound,
  Paused,
  PermissionEscalation,
  PlanRequired,
  RateLimited,
  SessionLimitExceeded,
  StoreUnavailable,
  TokenCompleted,
  TokenExpired,
  Unauthorized
} from "@weft/core"
import { SandboxUnavailable } from "@weft/core/adapter"
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

/** Returns the rest of a message after its prefix, or the whole message if the prefix differs. */
const stripPrefix = (prefix: string, message: string): string =>
  message.startsWith(prefix) ? message.slice(prefix.length) : message

const wireError = <E extends { readonly message: string }>(
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

export const UnauthorizedError = wireError(
  Schema.toType(Unauthorized),
  "UnauthorizedError",
  "unauthorized",
  () => new Unauthorized({})
)

export const ForbiddenError = wireError(
  Schema.toType(Forbidden),
  "ForbiddenError",
  "forbidden",
  (message) => new Forbidden({ permission: stripPrefix("This credential lacks the permission ", message) })
)

export const PlanRequiredError = wireError(
  Schema.toType(PlanRequired),
  "PlanRequiredError",
  "plan_required",
  (message) => new PlanRequired({ reason: message })
)

export const PausedError = wireError(
  Schema.toType(Paused),
  "PausedError",
  "paused",
  (message) => new Paused({ reason: message })
)

export const DeploymentRefusedError = wireError(
  Schema.toType(DeploymentRefused),
  "DeploymentRefusedError",
  "deployment_refused",
  (message) => new DeploymentRefused({ reason: message })
)

export const CanaryActiveError = wireError(
  Schema.toType(CanaryActive),
  "CanaryActiveError",
  "canary_active",
  (message) => new CanaryActive({ reason: message })
)

export const PermissionEscalationError = wireError(
  Schema.toType(PermissionEscalation),
  "PermissionEscalationError",
  "permission_escalation",
  (message) =>
    new PermissionEscalation({
      permission: stripPrefix("The permission ", message).replace(/ exceeds those of the creating credential$/, "")
    })
)

/** Returns the first number in a message, or 0. */
const parseNumber = (message: string): number => Number(/\d+/.exec(message)?.[0] ?? 0)

export const DomainLimitReachedError = wireError(
  Schema.toType(DomainLimitReached),
  "DomainLimitReachedError",
  "domain_limit_reached",
  (message) => new DomainLimitReached({ limit: parseNumber(message) })
)

export const DomainExistsError = wireError(
  Schema.toType(DomainExists),
  "DomainExistsError",
  "domain_exists",
  () => new DomainExists({})
)

export const TokenCompletedError = wireError(
  Schema.toType(TokenCompleted),
  "TokenCompletedError",
  "token_completed",
  (message) => new TokenCompleted({ completed_at: stripPrefix("The token was completed at ", message) })
)

export const TokenExpiredError = wireError(
  Schema.toType(TokenExpired),
  "TokenExpiredError",
  "token_expired",
  (message) => new TokenExpired({ reason: message })
)

export const BusyError = wireError(Schema.toType(Busy), "BusyError", "busy", (message) => new Busy({ reason: message }))

export const SessionLimitExceededError = wireError(
  Schema.toType(SessionLimitExceeded),
  "SessionLimitExceededError",
  "session_limit_exceeded",
  (message) => new SessionLimitExceeded({ limit: parseNumber(message) })
)

export const NotFoundError = wireError(
  Schema.toType(NotFound),
  "NotFoundError",
  "not_found",
  (message) => new NotFound({ resource: stripPrefix("There is no such ", message) })
)

export const ContentDamagedError = wireError(
  Schema.toType(ContentDamaged),
  "ContentDamagedError",
  "internal_server_error",
  (message) => new ContentDamaged({ resource: /of this (\w+) are/.exec(message)?.[1] ?? "file" })
)

export const BadRequestError = wireError(
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
      decode: ({ body: { error }, headers }) =>
        new RateLimited({ retryAfterSeconds: headers["retry-after"], reason: error.message }),
      encode: (failure) => ({
        body: body("rate_limit_exceeded", failure.message),
        headers: { "retry-after": failure.retryAfterSeconds }
      })
    }
  )
)

/** The store or the sandbox is unavailable. Only the server's log contains the cause. */
export const UnavailableError = wireError(
  Schema.Union([Schema.toType(StoreUnavailable), Schema.toType(SandboxUnavailable)]),
  "InternalServerError",
  "internal_server_error",
  () => new StoreUnavailable({ operation: "the request", cause: internalMessage })
)

/** Readiness error with status 503, for load balancers. */
export const NotReadyError = wireError(
  Schema.toType(StoreUnavailable),
  "NotReadyError",
  "internal_server_error",
  () => new StoreUnavailable({ operation: "the request", cause: internalMessage })
).pipe(HttpApiSchema.status(503))
