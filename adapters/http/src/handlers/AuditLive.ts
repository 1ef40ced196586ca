/** Handlers for `AuditApi`: one service call each, no decisions. */
import { pageOf, WeftApi } from "@weft/api"
import { AuditLog, type AuditQuery } from "@weft/core"
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
        const page = pageOf(query)
        return Effect.map(log.list(auditQueryOf(query), page), listing(page))
      }
    })
  })
)

/** The filters of a query, as the service has them. */
export const auditQueryOf = ({
  limit: _limit,
  offset: _offset,
  time_range,
  ...filter
}: Omit<AuditQuery, "within"> & {
  readonly limit?: number
  readonly offset?: number
  readonly time_range?: Duration.Duration
}): AuditQuery => (time_range === undefined ? filter : { ...filter, within: time_range })
