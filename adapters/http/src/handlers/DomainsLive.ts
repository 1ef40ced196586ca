/** Handlers for `DomainsApi`: one service call each, no decisions. */
import { WeftApi } from "@weft/api"
import { type Domain, Domains } from "@weft/core"
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
          // Whoever asks again and again until it is validated must not miss that, however quickly it goes on.
          status: isValidated(domain.status) ? "validated" : domain.status,
          message
        })),
      remove: ({ params }) => domains.remove(params.domain_id)
    })
  })
)

const isValidated = (status: Domain["status"]): boolean => status === "provisioning" || status === "active"
