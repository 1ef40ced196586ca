/** Handlers for `EventsApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Events, Runs } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { eventText, runText } from "../responses/RawRecord.ts"
import { respondList, respondSingle } from "../responses/RawResponses.ts"
import { listing, wholeOrPage } from "./Listing.ts"

export const EventsLive = HttpApiBuilder.group(
  WeftApi,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const events = yield* Events
    const runs = yield* Runs
    return handlers.handleAll({
      publish: ({ payload: { event_type, event_data, ...others }, headers: { "idempotency-key": idempotencyKey } }) =>
        Effect.flatMap(
          events.publish({
            type: event_type,
            data: event_data,
            ...others,
            ...(idempotencyKey === undefined ? {} : { idempotencyKey })
          }),
          (event) => respondSingle(event, eventText, 201)
        ),
      list: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.flatMap(events.list(page), (found) => respondList(listing(page)(found), eventText))
      },
      get: ({ params }) => Effect.flatMap(events.get(params.event_id), (event) => respondSingle(event, eventText)),
      runs: ({ params, query }) =>
        Effect.flatMap(
          wholeOrPage(query, runs.ofEvent(params.event_id), (page) => runs.pageOfEvent(params.event_id, page)),
          (found) => respondList(found, runText)
        )
    })
  })
)
