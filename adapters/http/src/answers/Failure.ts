/** What a client learns of something that went wrong. The rest is for the log. */
import { type ErrorCode, errorStatus, internalMessage, retryAfterOutageSeconds } from "@weft/api"
import {
  BadRequest,
  DomainExists,
  DomainLimitReached,
  Forbidden,
  FunctionFailed,
  NotFound,
  PermissionEscalation,
  PlanRequired,
  RateLimited,
  SandboxUnavailable,
  SessionLimitExceeded,
  StoreUnavailable,
  Unauthorized
} from "@weft/core"
import type { Answer } from "./Answer.ts"

export interface Failure {
  readonly code: ErrorCode
  /** For the client: never a stack, a cause or a part of what it sent. */
  readonly message: string
  readonly retryAfterSeconds: number | null
}

export const internal: Failure = { code: "internal_server_error", message: internalMessage, retryAfterSeconds: null }

/** Not now, through no fault of the request. */
export const later: Failure = { ...internal, retryAfterSeconds: retryAfterOutageSeconds }

/** The failure that one of core's errors stands for; null for anything else, which is a mistake of ours. */
export const failureOf = (error: unknown): Failure | null => {
  if (isOutage(error)) return later
  if (error instanceof RateLimited) {
    return { code: error.code, message: error.message, retryAfterSeconds: error.retryAfterSeconds }
  }
  if (error instanceof FunctionFailed) return { ...internal, message: error.message }
  return isRefusal(error) ? { code: error.code, message: error.message, retryAfterSeconds: null } : null
}

/** The store or the sandbox did not answer: worth a line in the log, and another try. */
export const isOutage = (error: unknown): error is StoreUnavailable | SandboxUnavailable =>
  error instanceof StoreUnavailable || error instanceof SandboxUnavailable

type Refusal =
  | Unauthorized
  | Forbidden
  | PermissionEscalation
  | PlanRequired
  | DomainLimitReached
  | DomainExists
  | SessionLimitExceeded
  | NotFound
  | BadRequest

const isRefusal = (error: unknown): error is Refusal =>
  error instanceof NotFound ||
  error instanceof BadRequest ||
  error instanceof Unauthorized ||
  error instanceof Forbidden ||
  error instanceof PlanRequired ||
  error instanceof DomainLimitReached ||
  error instanceof DomainExists ||
  error instanceof SessionLimitExceeded ||
  error instanceof PermissionEscalation

export const failureAnswer = ({ code, message, retryAfterSeconds }: Failure, requestId: string): Answer => {
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

/** Where there is no room for what was sent, or the store does not answer in time. */
export const busyAnswer = (requestId: string): Answer => ({ ...failureAnswer(later, requestId), status: 503 })
