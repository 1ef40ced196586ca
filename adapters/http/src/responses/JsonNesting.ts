/**
 * Rejects JSON with very deep nesting before it is parsed. Parsing and checking a body of a million nested arrays takes
 * seconds, in which the process serves no other request.
 */
import { jsonLevelsMax } from "@weft/api"
import { BadRequest } from "@weft/core"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"

/** Maximum levels that are parsed, in some milliseconds. The schema rejects more than 500, with the name of the field. */
const parsedLevelsMax = 5_000

const tooDeep = new BadRequest({ reason: `The body must not be nested deeper than ${jsonLevelsMax} levels` })

/** True if the endpoint decodes a body as JSON. */
export const takesJson = ({ payload }: { readonly payload: HttpApiEndpoint.PayloadMap }): boolean =>
  [...payload.values()].some(({ encoding }) => encoding._tag === "Json")

/** Fails for the request's body if it is too deep. The request caches the text for the decoder. */
export const rejectDeepJson = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  Effect.matchEffect(request.text, {
    // The decoder reports a body that cannot be read.
    onFailure: () => Effect.void,
    onSuccess: (text) => (isDeeper(text, parsedLevelsMax) ? Effect.fail(tooDeep) : Effect.void)
  })
)

const [quote, backslash, openArray, closeArray, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

/** True if the brackets outside of strings are nested deeper than `levels`. The text may be invalid JSON. */
export const isDeeper = (text: string, levels: number): boolean => {
  if (!hasMoreOpening(text, levels)) return false
  let depth = 0
  let isString = false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (isString) {
      if (unit === backslash) index++
      else if (unit === quote) isString = false
    } else if (unit === quote) isString = true
    else if (unit === openArray || unit === openObject) {
      if (++depth > levels) return true
    } else if (unit === closeArray || unit === closeObject) depth--
  }
  return false
}

/** True if the text has more than `count` opening brackets, in strings as well. A search costs far less than a scan. */
const hasMoreOpening = (text: string, count: number): boolean => {
  if (text.length <= count) return false
  let found = 0
  for (const bracket of ["[", "{"]) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++found > count) return true
    }
  }
  return false
}
