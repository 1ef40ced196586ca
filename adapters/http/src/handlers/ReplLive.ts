/** Handlers for `ReplApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Repl } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { replResultText } from "../responses/RawRecord.ts"
import { respondSingle } from "../responses/RawResponses.ts"
import { listing } from "./Listing.ts"

export const ReplLive = HttpApiBuilder.group(
  WeftApi,
  "repl",
  Effect.fnUntraced(function* (handlers) {
    const repl = yield* Repl
    return handlers.handleAll({
      list: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.map(repl.list(page), listing(page))
      },
      open: ({ payload }) => repl.open(payload),
      input: ({ params, payload }) =>
        Effect.flatMap(repl.input(params.repl_id, payload), (end) => respondSingle(end, replResultText)),
      complete: ({ params, payload }) => repl.complete(params.repl_id, payload),
      close: ({ params }) => repl.close(params.repl_id)
    })
  })
)
