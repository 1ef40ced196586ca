/** Handlers for `DeliveriesApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Deliveries, type DeliveryQuery, firstPage, Waits } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const DeliveriesLive = HttpApiBuilder.group(
  WeftApi,
  "deliveries",
  Effect.fnUntraced(function* (handlers) {
    const deliveries = yield* Deliveries
    const waits = yield* Waits
    return handlers.handleAll({
      list: ({ query: { project, fn, event_type, ...rest } }) => {
        const page = toPageRequest(rest)
        return Effect.map(waits.list(page, toQuery({ project, fn, event_type })), listing(page))
      },
      why: ({ params }) =>
        Effect.map(waits.explain(params.waiting_id), (items) =>
          listing({ ...firstPage, limit: Math.max(firstPage.limit, items.length) })({ items, total: items.length })
        ),
      cancel: ({ query: { dry_run, ...query } }) =>
        dry_run === undefined
          ? Effect.map(deliveries.cancel(toQuery(query)), (cancelled) => ({ cancelled }))
          : Effect.map(deliveries.preview(toQuery(query)), (matched) => ({ cancelled: 0, matched }))
    })
  })
)

interface SentQuery {
  readonly project?: string | undefined
  readonly fn?: string | undefined
  readonly event_type?: string | undefined
}

const toQuery = ({ project, fn, event_type }: SentQuery): DeliveryQuery => ({
  ...(project === undefined ? {} : { project }),
  ...(fn === undefined ? {} : { fn }),
  ...(event_type === undefined ? {} : { eventType: event_type })
})
