/** The part of an error that clients receive. The details go to the log only. */
import { type ErrorCode, errorStatus, internalMessage, retryAfterOutageSeconds } from "@weft/api"
import {
  BadRequest,
  Busy,
  CanaryActive,
  ContentDamaged,
  DeploymentRefused,
  DomainExists,
  DomainLimitReached,
  Forbidden,
  FunctionFailed,
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
import type { Cause } from "effect"
import type { PlainResponse } from "./PlainResponse.ts"

export interface Failure {
  readonly code: ErrorCode
  /** Sent to the client. Contains no stack, no cause and no part of the request. */
  readonly message: string
  readonly retryAfterSeconds: number | null
}

export const internal: Failure = { code: "internal_server_error", message: internalMessage, retryAfterSeconds: null }

/** A temporary failure that the request did not cause. */
export const unavailable: Failure = { ...internal, retryAfterSeconds: retryAfterOutageSeconds }

/** Failure of a request that a shutdown interrupts. */
export const interrupted: Failure = { ...internal, retryAfterSeconds: 1 }

/** The response to an error, and whether its details are logged. */
export interface ErrorReport {
  readonly failure: Failure
  /** Null for errors of the client. */
  readonly logged: "bug" | "outage" | null
}

export const reportError = (error: unknown): ErrorReport => {
  const failure = toFailure(error)
  return failure === null
    ? { failure: internal, logged: "bug" }
    : { failure, logged: isOutage(error) ? "outage" : null }
}

/** The first error or defect of a cause, or null if the cause is an interruption only. */
export const firstError = (cause: Cause.Cause<unknown>): { readonly error: unknown } | null => {
  for (const reason of cause.reasons) {
    if (reason._tag !== "Interrupt") return { error: reason._tag === "Fail" ? reason.error : reason.defect }
  }
  return null
}

/** Returns the failure for an error of core, or null for any other value, which is a bug. */
export const toFailure = (error: unknown): Failure | null => {
  if (isOutage(error)) return unavailable
  if (error instanceof RateLimited) {
    return { code: error.code, message: error.message, retryAfterSeconds: error.retryAfterSeconds }
  }
  if (error instanceof FunctionFailed) return { ...internal, message: error.message }
  // Already logged and recorded where it was found.
  if (error instanceof ContentDamaged) return { ...internal, code: error.code, message: error.message }
  return isClientError(error) ? { code: error.code, message: error.message, retryAfterSeconds: null } : null
}

/** True if the store or the sandbox did not respond. Such errors are logged, and clients may retry. */
export const isOutage = (error: unknown): error is StoreUnavailable | SandboxUnavailable =>
  error instanceof StoreUnavailable || error instanceof SandboxUnavailable

type ClientError =
  | CanaryActive
  | DeploymentRefused
  | Unauthorized
  | Forbidden
  | PermissionEscalation
  | Paused
  | PlanRequired
  | DomainLimitReached
  | DomainExists
  | SessionLimitExceeded
  | TokenCompleted
  | TokenExpired
  | Busy
  | NotFound
  | BadRequest

const isClientError = (error: unknown): error is ClientError =>
  error instanceof NotFound ||
  error instanceof BadRequest ||
  error instanceof CanaryActive ||
  error instanceof DeploymentRefused ||
  error instanceof Unauthorized ||
  error instanceof Forbidden ||
  error instanceof Paused ||
  error instanceof PlanRequired ||
  error instanceof DomainLimitReached ||
  error instanceof DomainExists ||
  error instanceof TokenCompleted ||
  error instanceof TokenExpired ||
  error instanceof Busy ||
  error instanceof SessionLimitExceeded ||
  error instanceof PermissionEscalation

export const failureResponse = ({ code, message, retryAfterSeconds }: Failure, requestId: string): PlainResponse => {
  const status = errorStatus[code]
  return {
    status,
    headers: {
      "content-type": "application/json",
      "x-request-id": requestId,
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
      ...(retryAfterSeconds === null ? {} : { "retry-after": String(retryAfterSeconds) })
    },
    body: JSON.stringify({ error: { code, message, request_id: requestId } })
  }
}

/** Returns a 503 response, for exhausted memory budgets and for stores that do not respond in time. */
export const busyResponse = (requestId: string): PlainResponse => ({
  ...failureResponse(unavailable, requestId),
  status: 503
})
