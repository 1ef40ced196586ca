/** Why a request failed, in words for people. */
import { WeftError, WeftNetworkError } from "@weft/client"
import { Failure, failure } from "../Failure.ts"
import { printable } from "../output/Printable.ts"
import type { Target } from "./Target.ts"

/** Which credential a request is made with. */
export type Role = "key" | "admin"

export const failureOf = (error: unknown, target: Target, role: Role): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof WeftError) return refusalOf(error, target, role)
  if (isUnreachable(error)) return noServer(target)
  if (error instanceof WeftNetworkError)
    return failure("no_answer", `${target.url}: ${printable(error.message)}`, "try again")
  if (error instanceof TypeError) return failure("usage", printable(error.message))
  throw error
}

const refusalOf = (error: WeftError, target: Target, role: Role): Failure => {
  const message = printable(error.message)
  switch (error.code) {
    case "unauthorized":
      return failure(error.code, `${target.url} does not accept ${credentialOf(target, role)}`, loginOf(target, role))
    case "forbidden":
    case "permission_escalation":
      return failure(error.code, message, "use a key that has the permission: `weft login` takes another one")
    case "rate_limit_exceeded":
      return failure(
        error.code,
        message,
        error.retryAfter === null ? "try again later" : `try again in ${error.retryAfter} s`
      )
    case "internal_server_error":
      return failure(error.code, message, `the server's log says more of request ${error.requestId ?? "(unknown)"}`)
    case "unrecognized":
      return failure(
        error.code,
        `${target.url} answers ${error.status}, and not as Weft does`,
        "is it the right --url?"
      )
    default:
      return failure(error.code, message)
  }
}

const credentialOf = (target: Target, role: Role): string => {
  if (role === "admin") return target.adminToken === null ? "requests without an admin token" : "the admin token"
  return target.apiKey === null
    ? "requests without a key"
    : `the key of the profile ${target.profile}, or of WEFT_API_KEY`
}

export const loginOf = ({ profile }: Target, role: Role): string =>
  role === "admin"
    ? `\`weft login --admin --profile ${profile}\`, or set WEFT_ADMIN_TOKEN`
    : `\`weft login --profile ${profile}\`, or set WEFT_API_KEY`

const noServer = ({ url, profile }: Target): Failure =>
  failure(
    "no_server",
    `No server answers at ${url}`,
    profile === "local"
      ? "start one with `weft server`, or name another with --url or --profile"
      : "is it the right address? --url and --profile name another"
  )

const unreachable = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"])

/** Whether nobody was there to be asked: trying again at once is of no use then. */
export const isUnreachable = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && typeof cause.code === "string" && unreachable.has(cause.code)) return true
  }
  return false
}
