/** Validates a guest's request and selects the parts that are sent. */
import { EgressRefused, type EgressRequest, type HeaderList, ownHeaders, stackless } from "@weft/core/adapter"
import { Result } from "effect"
import type { Hop } from "./Redirects.ts"

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Header values without the characters that could start another header or request. */
const value = /^[\t\x20-\x7e\x80-\xff]*$/
const forbiddenMethods = new Set(["CONNECT", "TRACE", "TRACK"])

/** Builds the first hop. Refuses invalid requests, and omits headers that a guest cannot set. */
export const firstHop = (request: EgressRequest, userAgent: string): Result.Result<Hop, EgressRefused> => {
  const url = URL.parse(request.url)
  if (url === null) return refused("the URL is invalid")
  if (url.username !== "" || url.password !== "") return refused("the URL must not include credentials")
  if (!token.test(request.method) || forbiddenMethods.has(request.method.toUpperCase())) {
    return refused("the method is not allowed")
  }
  if (request.body !== null && (request.method === "GET" || request.method === "HEAD")) {
    return refused(`a ${request.method} request has no body`)
  }
  const headers: Array<readonly [string, string]> = []
  for (const [given, text] of request.headers) {
    // Header values may be secrets, so none is quoted.
    if (!token.test(given)) return refused("a header has an invalid name")
    const name = given.toLowerCase()
    if (!value.test(text)) return refused(`the header ${name} has an invalid value`)
    if (!ownHeaders.has(name) && !name.startsWith("proxy-")) headers.push([name, text])
  }
  for (const [name, text] of defaults(userAgent)) {
    if (!headers.some(([existing]) => existing === name)) headers.push([name, text])
  }
  return Result.succeed({ url, method: request.method, headers, body: request.body })
}

const defaults = (userAgent: string): HeaderList => [
  ["accept", "*/*"],
  ["accept-encoding", "gzip, br"],
  ["user-agent", userAgent]
]

const refused = (reason: string) => Result.fail(stackless(() => new EgressRefused({ reason })))
