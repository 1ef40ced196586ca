/** Converts errors of the client into failures with a remedy. */
import { WeftError, WeftNetworkError } from "@weft/client"
import { Failure, failure } from "../Failure.ts"
import { printable } from "../output/Printable.ts"
import type { Target } from "./Target.ts"

/** The credential of a request: API key or admin token. */
export type Role = "key" | "admin"

export const toFailure = (error: unknown, target: Target, role: Role): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof WeftError) return toApiFailure(error, target, role)
  if (isUnreachable(error)) return noServer(target)
  if (error instanceof WeftNetworkError)
    return failure("no_answer", `${target.url}: ${printable(error.message)}`, "try again")
  if (error instanceof TypeError) return failure("usage", printable(error.message))
  throw error
}

const toApiFailure = (error: WeftError, target: Target, role: Role): Failure => {
  const message = printable(error.message)
  switch (error.code) {
    case "unauthorized":
      return failure(
        error.code,
        `${target.url} does not accept ${describeCredential(target, role)}`,
        loginHint(target, role)
      )
    case "forbidden":
    case "permission_escalation":
      return failure(error.code, message, "use a key that has the permission: `weft login` stores another one")
    case "rate_limit_exceeded":
      return failure(
        error.code,
        message,
        error.retryAfter === null ? "try again later" : `try again in ${error.retryAfter} s`
      )
    case "internal_server_error":
      return failure(error.code, message, `look for request ${error.requestId ?? "(unknown)"} in the server's log`)
    case "unrecognized":
      return failure(
        error.code,
        `${target.url} responds with ${error.status}, but not in the format of Weft`,
        "check --url"
      )
    default:
      return failure(error.code, message)
  }
}

const describeCredential = (target: Target, role: Role): string => {
  if (role === "admin") return target.adminToken === null ? "requests without an admin token" : "the admin token"
  return target.apiKey === null ? "requests without a key" : `the key of profile ${target.profile} or of WEFT_API_KEY`
}

export const loginHint = ({ profile }: Target, role: Role): string =>
  role === "admin"
    ? `\`weft login --admin --profile ${profile}\`, or set WEFT_ADMIN_TOKEN`
    : `\`weft login --profile ${profile}\`, or set WEFT_API_KEY`

const noServer = ({ url, profile }: Target): Failure =>
  failure(
    "no_server",
    `No server answers at ${url}`,
    profile === "local"
      ? "start one with `weft server`, or name another with --url or --profile"
      : "check the address, or name another with --url or --profile"
  )

const unreachable = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"])

/** True if the server could not be reached at all. An immediate retry is then of no use. */
export const isUnreachable = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && typeof cause.code === "string" && unreachable.has(cause.code)) return true
  }
  return false
}
