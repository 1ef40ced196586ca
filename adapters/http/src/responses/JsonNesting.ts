/**
 * Rejects JSON with very deep nesting before it is parsed. Parsing and checking a body of a million nested arrays takes
 * seconds, in which the process serves no other request.
 */
import { jsonLevelsMax } from "@weft/api"
import { BadRequest } from "@weft/core"
import { isDeeper } from "@weft/core/adapter"
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
