/** Handlers for `EventsApi`: one service call each, no decisions. */
import { pageOf, WeftApi } from "@weft/api"
import { Events, Runs } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing, wholeOrPage } from "./Listing.ts"

export const EventsLive = HttpApiBuilder.group(
  WeftApi,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const events = yield* Events
    const runs = yield* Runs
    return handlers.handleAll({
      publish: ({ payload: { event_type, event_data, ...others }, headers: { "idempotency-key": idempotencyKey } }) =>
        events.publish({
          type: event_type,
          data: event_data,
          ...others,
          ...(idempotencyKey === undefined ? {} : { idempotencyKey })
        }),
      list: ({ query }) => {
        const page = pageOf(query)
        return Effect.map(events.list(page), listing(page))
      },
      get: ({ params }) => events.get(params.event_id),
      runs: ({ params, query }) =>
        wholeOrPage(query, runs.ofEvent(params.event_id), (page) => runs.pageOfEvent(params.event_id, page))
    })
  })
)
