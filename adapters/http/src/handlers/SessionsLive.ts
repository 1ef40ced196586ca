/** Handlers for `SessionsApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Sessions } from "@weft/core"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const SessionsLive = HttpApiBuilder.group(
  WeftApi,
  "sessions",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* Sessions
    return handlers.handleAll({
      create: ({ payload }) =>
        Effect.map(sessions.create(payload), ({ session, token }) => ({ ...session, token: Redacted.value(token) })),
      list: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.map(sessions.list(page), listing(page))
      },
      revoke: ({ params }) => sessions.revoke(params.session_id),
      revokeAll: () => Effect.map(sessions.revokeAll, (count) => ({ revoked_count: count }))
    })
  })
)
