/** Handlers for `PausesApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Pauses } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const PausesLive = HttpApiBuilder.group(
  WeftApi,
  "pauses",
  Effect.fnUntraced(function* (handlers) {
    const pauses = yield* Pauses
    return handlers.handleAll({
      list: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.map(pauses.list(page), listing(page))
      },
      create: ({ payload }) => pauses.pause(payload),
      get: ({ params }) => pauses.get(params.pause_id),
      remove: ({ params }) => pauses.resume(params.pause_id)
    })
  })
)
