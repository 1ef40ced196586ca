/**
 * Every error code of the API with its HTTP status (specification, "Errors"). The set is closed: what has no row of
 * its own is `bad_request`.
 */
export const errorStatus = {
  unauthorized: 401,
  forbidden: 403,
  permission_escalation: 403,
  plan_required: 403,
  domain_limit_reached: 403,
  not_found: 404,
  bad_request: 400,
  domain_exists: 409,
  session_limit_exceeded: 429,
  rate_limit_exceeded: 429,
  internal_server_error: 500
} as const

export type ErrorCode = keyof typeof errorStatus

/** What a client learns of a failure that is the server's: nothing but that it may try again. */
export const internalMessage = "The server could not answer this request"

/** Seconds after which a request that failed for want of the store or the sandbox is worth repeating. */
export const retryAfterOutageSeconds = 1
