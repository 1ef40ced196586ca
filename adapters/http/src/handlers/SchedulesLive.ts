/** Handlers for `SchedulesApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Schedules } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const SchedulesLive = HttpApiBuilder.group(
  WeftApi,
  "schedules",
  Effect.fnUntraced(function* (handlers) {
    const schedules = yield* Schedules
    return handlers.handleAll({
      list: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.map(schedules.list(page), listing(page))
      },
      upcoming: ({ query: { days = 7, ...query } }) => {
        const page = toPageRequest(query)
        return Effect.map(schedules.upcoming(page, days), listing(page))
      },
      remove: ({ params }) => schedules.remove(params.schedule_id)
    })
  })
)
