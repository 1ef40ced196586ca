/**
 * The cookie of the console.
 *
 * Its path is `/console`, so that functions behind `/webhook` never receive it. Behind a path prefix the path is the
 * browser's: the page sends it, because the server does not know its prefix.
 */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { consolePrefix } from "./ConsolePath.ts"

const name = "weft_console"

/** Format of the prefix that a page sends: path segments without characters that separate attributes of cookies. */
const prefixShape = /^(\/[\w.~%-]+){0,16}$/

/** Returns the ticket in the request's cookie, or null. */
export const readTicket = ({ headers }: HttpServerRequest.HttpServerRequest): string | null => {
  for (const pair of headers.cookie?.split(";") ?? []) {
    const [key, ...value] = pair.split("=")
    if (key?.trim() === name) return value.join("=").trim() || null
  }
  return null
}

export interface CookieOptions {
  readonly value: string
  /** 0 deletes the cookie. */
  readonly maxAgeSeconds: number
  /** True if a proxy in front of the server sets `X-Forwarded-Proto`. */
  readonly trustProxy: boolean
}

/** Returns the `Set-Cookie` header of a response to the current request. */
export const cookieHeader = ({
  value,
  maxAgeSeconds,
  trustProxy
}: CookieOptions): Effect.Effect<string, never, HttpServerRequest.HttpServerRequest> =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const prefix = request.headers["x-weft-prefix"] ?? ""
    return [
      `${name}=${value}`,
      `Path=${prefixShape.test(prefix) ? prefix : ""}${consolePrefix}`,
      `Max-Age=${maxAgeSeconds}`,
      "HttpOnly",
      "SameSite=Strict",
      ...(isHttps(request, trustProxy) ? ["Secure"] : [])
    ].join("; ")
  })

const isHttps = ({ headers, protocol }: HttpServerRequest.HttpServerRequest, trustProxy: boolean): boolean => {
  const forwarded = trustProxy ? headers["x-forwarded-proto"]?.split(",").at(-1)?.trim() : undefined
  // A page served over HTTPS sends its origin with every request that changes something.
  return forwarded === "https" || protocol === "https" || headers.origin?.startsWith("https://") === true
}
