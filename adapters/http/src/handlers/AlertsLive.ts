/** Handlers for `AlertsApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Alerts } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const AlertsLive = HttpApiBuilder.group(
  WeftApi,
  "alerts",
  Effect.fnUntraced(function* (handlers) {
    const alerts = yield* Alerts
    return handlers.handleAll({
      list: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.map(alerts.list(page), listing(page))
      },
      create: ({ payload }) => alerts.create(payload),
      get: ({ params }) => alerts.get(params.alert_id),
      update: ({ params, payload }) => alerts.update(params.alert_id, payload),
      remove: ({ params }) => alerts.remove(params.alert_id),
      test: ({ params }) => alerts.test(params.alert_id)
    })
  })
)
