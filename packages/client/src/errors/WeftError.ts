/** Failures that a server told of. */
import type { ErrorCode } from "../generated/ErrorCode.ts"

export interface Failure {
  readonly code: ErrorCode | "unrecognized"
  readonly message: string
  readonly status: number
  readonly requestId: string | null
  readonly retryAfter: number | null
}

/** The server refused a request, or could not answer it. */
export class WeftError extends Error {
  override readonly name = "WeftError"
  /** For programs; `unrecognized` where the answer is none of Weft's, such as that of a proxy. */
  readonly code: ErrorCode | "unrecognized"
  readonly status: number
  /** By which the server's log knows the request. */
  readonly requestId: string | null
  /** Seconds after which the server wants to be asked again. */
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

const bodyOf = (text: string): ErrorBody => {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

/** Reads an answer that is no success. */
export const failureOf = async (response: Response): Promise<WeftError> => {
  const { status, headers } = response
  const { error } = bodyOf(await response.text())
  return new WeftError({
    code: error?.code ?? "unrecognized",
    message: error?.message ?? `The server answered ${status}`,
    status,
    requestId: error?.request_id ?? headers.get("x-request-id"),
    retryAfter: retryAfterOf(headers)
  })
}

/** Proxies may give a time instead of seconds. It is compared with the server's own clock. */
const retryAfterOf = (headers: Headers): number | null => {
  const value = headers.get("retry-after")
  if (value === null) return null
  if (/^\d+$/.test(value)) return Number(value)
  const seconds = (Date.parse(value) - Date.parse(headers.get("date") ?? "")) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
