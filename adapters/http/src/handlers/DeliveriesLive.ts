/** Handlers for `DeliveriesApi`: one service call each, no decisions. */
import { WeftApi } from "@weft/api"
import { Deliveries } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const DeliveriesLive = HttpApiBuilder.group(
  WeftApi,
  "deliveries",
  Effect.fnUntraced(function* (handlers) {
    const deliveries = yield* Deliveries
    return handlers.handleAll({
      cancel: ({ query: { event_type, ...query } }) =>
        Effect.map(
          deliveries.cancel({ ...query, ...(event_type === undefined ? {} : { eventType: event_type }) }),
          (cancelled) => ({ cancelled })
        )
    })
  })
)
