/** Handlers for `AuditApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { AuditLog } from "@weft/core"
import type { AuditQuery } from "@weft/core/internal"
import { type Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const AuditLive = HttpApiBuilder.group(
  WeftApi,
  "audit",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handleAll({
      list: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.map(log.list(toAuditQuery(query), page), listing(page))
      }
    })
  })
)

/** Converts the filters of a query for the service. */
export const toAuditQuery = ({
  limit: _limit,
  offset: _offset,
  time_range,
  ...filter
}: Omit<AuditQuery, "within"> & {
  readonly limit?: number
  readonly offset?: number
  readonly time_range?: Duration.Duration
}): AuditQuery => (time_range === undefined ? filter : { ...filter, within: time_range })
