/** Handlers for `RunsApi`: one service call each, no decisions. */
import { pageOf, WeftApi } from "@weft/api"
import { Runs } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const RunsLive = HttpApiBuilder.group(
  WeftApi,
  "runs",
  Effect.fnUntraced(function* (handlers) {
    const runs = yield* Runs
    return handlers.handleAll({
      list: ({ query: { status, type, time_range, ...rest } }) => {
        const page = pageOf(rest)
        const filter = {
          ...(status === undefined ? {} : { status }),
          ...(type === undefined ? {} : { type }),
          ...(time_range === undefined ? {} : { within: time_range })
        }
        return Effect.map(runs.list(page, filter), listing(page))
      },
      stats: () => runs.stats,
      get: ({ params }) => runs.get(params.run_id),
      logs: ({ params, query }) => {
        const page = pageOf(query)
        return Effect.map(runs.logs(params.run_id, page), listing(page))
      },
      usage: ({ params }) => runs.get(params.run_id)
    })
  })
)
