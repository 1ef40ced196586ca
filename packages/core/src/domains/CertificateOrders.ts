/** Ordering certificates for domains, and having them stored sealed. */
import { Effect, Redacted } from "effect"
import { Keyring } from "../encryption/Keyring.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { Certificates, type IssuedCertificate } from "./Certificates.ts"
import type { Domain } from "./Domain.ts"
import { certificatePlace, type DomainCertificate } from "./DomainCertificate.ts"
import { orderFailed, orderSucceeded, renewAt } from "./DomainProgress.ts"
import { OrderBudget, ordersPerHour } from "./OrderBudget.ts"

/** What an order came to. */
export interface Ordered {
  /** With the order counted. */
  readonly domain: Domain
  /** Null when there is none: it was refused, or is not for this server to have. */
  readonly certificate: DomainCertificate | null
  /** Why there is none, in words for the owner of the domain. */
  readonly refusal: string | null
}

export type Order = Effect.Success<typeof makeOrder>

/** Orders a certificate for a domain, unless it is too early for another try. */
export const makeOrder = Effect.gen(function* () {
  const certificates = yield* Certificates
  const keyring = yield* Keyring
  const budget = new OrderBudget()

  const sealed = Effect.fnUntraced(function* (domain: Domain, issued: IssuedCertificate) {
    const private_key = yield* keyring.seal(Redacted.value(issued.privateKey), certificatePlace(domain.domain_id))
    const renew_at = renewAt(yield* currentTime, issued.notAfter)
    return { domain_id: domain.domain_id, chain: issued.chain, private_key, not_after: issued.notAfter, renew_at }
  })

  return Effect.fnUntraced(
    function* (domain: Domain) {
      const now = yield* currentTime
      if (now < domain.next_order_at) {
        return { domain, certificate: null, refusal: "the last order failed, and the next has to wait a little" }
      }
      // Counted before it is made: an order takes minutes, and others are not to pass meanwhile.
      const next_order_at = budget.take(domain.org_id, now)
      if (next_order_at !== null) {
        const refusal = `the organization has ordered ${ordersPerHour} certificates within an hour, and the next has to wait`
        return { domain: { ...domain, next_order_at }, certificate: null, refusal }
      }
      const order = { domain: domain.domain, challengeName: domain.validation_cname_value }
      const issued = yield* certificates.issue(order)
      if (issued === null) budget.giveBack(domain.org_id, now)
      return {
        domain: orderSucceeded(domain, yield* currentTime),
        certificate: issued === null ? null : yield* sealed(domain, issued),
        refusal: null
      } satisfies Ordered
    },
    (ordered, domain): Effect.Effect<Ordered> =>
      Effect.catchTag(ordered, "CertificateUnavailable", (error) =>
        Effect.gen(function* () {
          yield* Effect.logWarning(`there is no certificate for ${domain.domain}`, error)
          return { domain: orderFailed(domain, yield* currentTime), certificate: null, refusal: error.reason }
        })
      )
  )
})
