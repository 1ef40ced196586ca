/** Errors that the promises of this package reject with. */

/** Codes of {@link WeftError}. The HTTP API answers with the same codes. */
export const errorCodes = [
  "unauthorized",
  "forbidden",
  "permission_escalation",
  "plan_required",
  "domain_limit_reached",
  "domain_exists",
  "token_completed",
  "token_expired",
  "busy",
  "session_limit_exceeded",
  "not_found",
  "bad_request",
  "rate_limit_exceeded",
  "paused",
  "canary_active",
  "deployment_refused",
  "internal_server_error"
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** A request that Weft rejected, or could not serve. `code` is stable; `message` is for people. */
export class WeftError extends Error {
  override readonly name = "WeftError"
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

const isErrorCode = (code: unknown): code is ErrorCode => errorCodes.some((known) => known === code)

/** Returns the error of the runtime as a {@link WeftError}, and anything else as it is. */
export const toWeftError = (error: unknown): unknown =>
  error instanceof Error && "code" in error && isErrorCode(error.code)
    ? new WeftError(error.code, error.message, error)
    : error

/** Runs a call of the runtime and converts its rejection. */
export const rejecting = async <A>(call: () => Promise<A>): Promise<A> => {
  try {
    return await call()
  } catch (error) {
    throw toWeftError(error)
  }
}
