/** Handlers for `ContextApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { ContextVariables } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const ContextLive = HttpApiBuilder.group(
  WeftApi,
  "context",
  Effect.fnUntraced(function* (handlers) {
    const context = yield* ContextVariables
    return handlers.handleAll({
      list: ({ params, query }) => {
        const page = toPageRequest(query)
        return Effect.map(context.list(params.project_id_or_slug, page), listing(page))
      },
      create: ({ params, payload }) => context.create(params.project_id_or_slug, payload),
      update: ({ params, payload }) => context.update(params.project_id_or_slug, params.key, payload),
      remove: ({ params }) => context.remove(params.project_id_or_slug, params.key)
    })
  })
)
