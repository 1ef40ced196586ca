/** Checks that the percent-encoded bytes of queries are UTF-8. The router answers 404 to a path that it cannot decode. */
import { BadRequest } from "@weft/core"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"

export const badQuery = new BadRequest({ reason: "The query must be percent-encoded UTF-8" })

const encodedByte = /%[89a-f]/i
const encodedBytes = /(?:%[0-9a-f]{2})+/gi
const unencoded = /[^\u0021-\u007e]/

/** True if the query of a URL is UTF-8. A `%` without two digits is a character of its own, as in WHATWG URLs. */
export const hasUtf8Query = (url: string): boolean => {
  const mark = url.indexOf("?")
  if (mark === -1) return true
  const query = url.slice(mark + 1)
  return !unencoded.test(query) && (!encodedByte.test(query) || (query.match(encodedBytes) ?? []).every(isDecodable))
}

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/**
 * Rejects a query that is not UTF-8. Runs after the checks of credential and permission. The error is a defect, because a
 * middleware of the API fails only with its declared errors.
 */
export const requireUtf8Query: Effect.Effect<void, never, HttpServerRequest.HttpServerRequest> = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  ({ url }) => (hasUtf8Query(url) ? Effect.void : Effect.die(badQuery))
)
