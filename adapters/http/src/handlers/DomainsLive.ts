/** Handlers for `DomainsApi`: one service call each, no decisions. */
import { WeftApi } from "@weft/api"
import { Domains } from "@weft/core"
import type { Domain } from "@weft/core/adapter"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { wholeOrPage } from "./Listing.ts"

export const DomainsLive = HttpApiBuilder.group(
  WeftApi,
  "domains",
  Effect.fnUntraced(function* (handlers) {
    const domains = yield* Domains
    return handlers.handleAll({
      list: ({ query }) => wholeOrPage(query, domains.all, domains.list),
      add: ({ payload }) => domains.add({ domain: payload.domain }),
      get: ({ params }) => domains.get(params.domain_id),
      verify: ({ params }) =>
        Effect.map(domains.verify(params.domain_id), ({ domain, message }) => ({
          ...domain,
          // Clients poll until `validated`. Later statuses report it as well, so that a poll cannot miss it.
          status: isValidated(domain.status) ? "validated" : domain.status,
          message
        })),
      remove: ({ params }) => domains.remove(params.domain_id)
    })
  })
)

const isValidated = (status: Domain["status"]): boolean => status === "provisioning" || status === "active"
