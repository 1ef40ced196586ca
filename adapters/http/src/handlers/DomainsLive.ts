/** Handlers for `DomainsApi`: one service call each, no decisions. */
import { pageOf, WeftApi } from "@weft/api"
import { type Domain, Domains, firstPage } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing, wholeListing } from "./Listing.ts"

export const DomainsLive = HttpApiBuilder.group(
  WeftApi,
  "domains",
  Effect.fnUntraced(function* (handlers) {
    const domains = yield* Domains
    return handlers.handleAll({
      list: ({ query }) => {
        if (query.limit === undefined && query.offset === undefined) {
          return Effect.map(domains.all, wholeListing(firstPage.limit))
        }
        const page = pageOf(query)
        return Effect.map(domains.list(page), listing(page))
      },
      add: ({ payload }) => domains.add({ domain: payload.domain }),
      get: ({ params }) => domains.get(params.domain_id),
      verify: ({ params }) =>
        Effect.map(domains.verify(params.domain_id), ({ domain, message }) => ({
          ...domain,
          // Whoever asks again and again until it is validated must not miss that, however quickly it goes on.
          status: isValidated(domain.status) ? "validated" : domain.status,
          message
        })),
      remove: ({ params }) => domains.remove(params.domain_id)
    })
  })
)

const isValidated = (status: Domain["status"]): boolean => status === "provisioning" || status === "active"
