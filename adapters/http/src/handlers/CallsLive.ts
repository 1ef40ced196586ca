/** Handlers for `CallsApi`: one service call each, no decisions. */
import { WeftApi } from "@weft/api"
import { Calls } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { toBegunRun } from "./BegunRun.ts"

export const CallsLive = HttpApiBuilder.group(
  WeftApi,
  "calls",
  Effect.fnUntraced(function* (handlers) {
    const calls = yield* Calls
    return handlers.handleAll({
      call: ({ payload, headers: { "idempotency-key": idempotencyKey } }) =>
        Effect.map(calls.call({ ...payload, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) }), toBegunRun)
    })
  })
)
