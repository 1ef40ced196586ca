/** Handlers for `PreviewsApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Previews } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const PreviewsLive = HttpApiBuilder.group(
  WeftApi,
  "previews",
  Effect.fnUntraced(function* (handlers) {
    const previews = yield* Previews
    return handlers.handleAll({
      list: ({ params, query }) => {
        const page = toPageRequest(query)
        return Effect.map(previews.list(params.project_id_or_slug, page), listing(page))
      },
      get: ({ params }) => previews.get(params.project_id_or_slug, params.preview),
      deploy: ({ params, payload }) => previews.deploy(params.project_id_or_slug, params.preview, payload),
      extend: ({ params, payload }) => previews.extend(params.project_id_or_slug, params.preview, payload.ttl),
      remove: ({ params }) => previews.remove(params.project_id_or_slug, params.preview)
    })
  })
)
