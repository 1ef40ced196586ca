/** Orders certificates for domains and encrypts them for storage. */
import { Effect, Redacted } from "effect"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { Certificates, type IssuedCertificate } from "./Certificates.ts"
import type { Domain } from "./Domain.ts"
import { certificatePlace, type DomainCertificate } from "./DomainCertificate.ts"
import { orderFailed, orderSucceeded, renewAt } from "./DomainProgress.ts"
import { OrderBudget, ordersPerHour } from "./OrderBudget.ts"

/** Result of an order. */
export interface Ordered {
  /** The domain with the order counted. */
  readonly domain: Domain
  /** Null if the order was refused, or if this server does not manage certificates. */
  readonly certificate: DomainCertificate | null
  /** Reason of a refusal, for the owner of the domain. */
  readonly refusal: string | null
}

export type Order = Effect.Success<typeof makeOrder>

/** Orders a certificate for a domain, unless the back-off or the budget of the organization forbids it. */
export const makeOrder = Effect.gen(function* () {
  const certificates = yield* Certificates
  const keyring = yield* Keyring
  const budget = new OrderBudget()

  const toStored = Effect.fnUntraced(function* (domain: Domain, issued: IssuedCertificate) {
    const private_key = yield* keyring.seal(Redacted.value(issued.privateKey), certificatePlace(domain.domain_id))
    const renew_at = renewAt(yield* currentTime, issued.notAfter)
    return { domain_id: domain.domain_id, chain: issued.chain, private_key, not_after: issued.notAfter, renew_at }
  })

  return Effect.fnUntraced(
    function* (domain: Domain) {
      const now = yield* currentTime
      if (now < domain.next_order_at) {
        return { domain, certificate: null, refusal: "the last order failed, and the next one must wait a few minutes" }
      }
      // Counts the order before it is placed, because it takes minutes and concurrent orders must not exceed the budget.
      const next_order_at = budget.take(domain.org_id, now)
      if (next_order_at !== null) {
        const refusal = `the organization has ordered ${ordersPerHour} certificates within an hour, and the next one must wait`
        return { domain: { ...domain, next_order_at }, certificate: null, refusal }
      }
      const order = { domain: domain.domain, challengeName: domain.validation_cname_value }
      const issued = yield* certificates.issue(order)
      if (issued === null) budget.refund(domain.org_id, now)
      return {
        domain: orderSucceeded(domain, yield* currentTime),
        certificate: issued === null ? null : yield* toStored(domain, issued),
        refusal: null
      } satisfies Ordered
    },
    (ordered, domain): Effect.Effect<Ordered> =>
      Effect.catchTag(ordered, "CertificateUnavailable", (error) =>
        Effect.gen(function* () {
          yield* Effect.logWarning(`the certificate for ${domain.domain} could not be issued`, error)
          return { domain: orderFailed(domain, yield* currentTime), certificate: null, refusal: error.reason }
        })
      )
  )
})
