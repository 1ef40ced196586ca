/**
 * All error codes of the API with their HTTP status (specification, "Errors"). The set is closed: an error without its own
 * code is `bad_request`.
 */
export const errorStatus = {
  unauthorized: 401,
  forbidden: 403,
  permission_escalation: 403,
  plan_required: 403,
  domain_limit_reached: 403,
  deployment_refused: 403,
  not_found: 404,
  bad_request: 400,
  domain_exists: 409,
  token_completed: 409,
  busy: 409,
  canary_active: 409,
  token_expired: 410,
  session_limit_exceeded: 429,
  rate_limit_exceeded: 429,
  paused: 503,
  internal_server_error: 500
} as const

export type ErrorCode = keyof typeof errorStatus

/** Message for errors of the server, which must not reveal their cause. */
export const internalMessage = "The server could not answer this request"

/** Retry-After of requests that failed because the store or the sandbox was unavailable, in seconds. */
export const retryAfterOutageSeconds = 1
