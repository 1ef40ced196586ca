/** Handlers for `ServiceKeysApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { ServiceKeys } from "@weft/core"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const ServiceKeysLive = HttpApiBuilder.group(
  WeftApi,
  "serviceKeys",
  Effect.fnUntraced(function* (handlers) {
    const keys = yield* ServiceKeys
    return handlers.handleAll({
      create: ({ payload }) =>
        Effect.map(keys.create(payload), ({ key, token }) => ({ ...key, token: Redacted.value(token) })),
      list: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.map(keys.list(page), listing(page))
      },
      get: ({ params }) => keys.get(params.service_key_id),
      revoke: ({ params }) => keys.revoke(params.service_key_id),
      revokeAll: () => Effect.map(keys.revokeAll, (count) => ({ revoked_count: count }))
    })
  })
)
