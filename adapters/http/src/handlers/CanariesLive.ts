/** Handlers for `CanariesApi`: one service call each, no decisions. */
import { WeftApi } from "@weft/api"
import { Canaries } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const CanariesLive = HttpApiBuilder.group(
  WeftApi,
  "canaries",
  Effect.fnUntraced(function* (handlers) {
    const canaries = yield* Canaries
    return handlers.handleAll({
      get: ({ params }) => canaries.get(params.project_id_or_slug),
      promote: ({ params }) => canaries.promote(params.project_id_or_slug),
      rollback: ({ params }) => canaries.rollback(params.project_id_or_slug)
    })
  })
)
