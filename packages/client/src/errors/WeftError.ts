/** Errors in responses of the server. */
import type { ErrorCode } from "../generated/ErrorCode.ts"

export interface Failure {
  readonly code: ErrorCode | "unrecognized"
  readonly message: string
  readonly status: number
  readonly requestId: string | null
  readonly retryAfter: number | null
}

/** An error response of the server. */
export class WeftError extends Error {
  override readonly name = "WeftError"
  /** Error code; `unrecognized` for responses that are not Weft's, such as a proxy's. */
  readonly code: ErrorCode | "unrecognized"
  readonly status: number
  /** Id of the request in the server's log. */
  readonly requestId: string | null
  /** Seconds after which the server accepts a retry. */
  readonly retryAfter: number | null

  constructor({ code, message, status, requestId, retryAfter }: Failure) {
    super(message)
    this.code = code
    this.status = status
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}

interface ErrorBody {
  readonly error?: {
    readonly code?: ErrorCode
    readonly message?: string
    readonly request_id?: string
  }
}

const parseErrorBody = (text: string): ErrorBody => {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

/** Converts an error response into an error. */
export const toWeftError = async (response: Response): Promise<WeftError> => {
  const { status, headers } = response
  const { error } = parseErrorBody(await response.text())
  return new WeftError({
    code: error?.code ?? "unrecognized",
    message: error?.message ?? `The server responded with status ${status}`,
    status,
    requestId: error?.request_id ?? headers.get("x-request-id"),
    retryAfter: parseRetryAfter(headers)
  })
}

/** Returns the seconds of `Retry-After`. A date, as from proxies, is compared with the server's clock. */
const parseRetryAfter = (headers: Headers): number | null => {
  const value = headers.get("retry-after")
  if (value === null) return null
  if (/^\d+$/.test(value)) return Number(value)
  const seconds = (Date.parse(value) - Date.parse(headers.get("date") ?? "")) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
