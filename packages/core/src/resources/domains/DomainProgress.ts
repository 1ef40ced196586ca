/** State transitions of a domain, and messages for its owner. Pure: `now` is an argument. */
import { addMillis, Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Domain } from "./Domain.ts"
import type { DomainCertificate } from "./DomainCertificate.ts"

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Lease of a check, during which no other node checks the domain, in milliseconds. */
export const holdMs = 5 * minuteMs

/** Returns the back-off after `times` unsuccessful checks or orders: 1, 2, 4, … minutes, at most an hour. */
export const backOffMs = (times: number): number => Math.min(minuteMs * 2 ** Math.min(times, 10), hourMs)

/** Returns the domain with its next status. The next check is due at once. */
export const advanced = (domain: Domain, status: Domain["status"], now: Timestamp): Domain => ({
  ...domain,
  status,
  checks: 0,
  next_check_at: now,
  held_until: null
})

/** Returns the domain after a check without progress. */
export const waiting = (domain: Domain, now: Timestamp): Domain => ({
  ...domain,
  checks: domain.checks + 1,
  next_check_at: addMillis(now, backOffMs(domain.checks)),
  held_until: null
})

/** Returns the domain after a failed order. The next order must wait for any caller, because authorities limit orders. */
export const orderFailed = (domain: Domain, now: Timestamp): Domain => ({
  ...domain,
  failed_orders: domain.failed_orders + 1,
  next_order_at: addMillis(now, backOffMs(domain.failed_orders))
})

export const orderSucceeded = (domain: Domain, now: Timestamp): Domain => ({
  ...domain,
  failed_orders: 0,
  next_order_at: now
})

/** Returns the active domain, due when the certificate must be renewed, and at least once a day. */
export const restingActive = (domain: Domain, certificate: DomainCertificate | null, now: Timestamp): Domain => {
  const due = [addMillis(now, dayMs), ...(certificate === null ? [] : [certificate.renew_at])]
  return {
    ...domain,
    status: "active",
    checks: 0,
    // If the renewal is already due, it has just failed and must wait for the next order.
    next_check_at: Timestamp.make(Math.max(Math.min(...due), Math.min(domain.next_order_at, addMillis(now, dayMs)))),
    held_until: null
  }
}

/** Returns the time of renewal: 30 days before expiry, or after two thirds of a lifetime shorter than 90 days. */
export const renewAt = (issued: Timestamp, notAfter: Timestamp): Timestamp => {
  const lifeMs = notAfter - issued
  return addMillis(issued, Math.max(lifeMs - 30 * dayMs, (lifeMs * 2) / 3))
}

/** Maximum attempts to revoke the certificate of a deleted domain. After that it expires. */
export const revocationsMax = 5

/** Reason why a domain is not yet validated. */
export type Obstacle =
  | { readonly _tag: "NoRecord" }
  | { readonly _tag: "OtherRecord" }
  | { readonly _tag: "NoDns" }
  | { readonly _tag: "NoCertificate"; readonly reason: string }
  | { readonly _tag: "Underway" }

/** Returns a message for the owner of a domain about its status and the next step. */
export const toMessage = (domain: Domain, obstacle: Obstacle | null): string => {
  const route = `Add a CNAME record for ${domain.domain} that points to ${domain.routing_domain}`
  switch (domain.status) {
    case "pending_validation":
      return pendingMessage(domain, obstacle ?? { _tag: "Underway" })
    case "validated":
      return `The domain is validated. ${route}.`
    case "provisioning":
      return `The domain is validated, but its traffic does not arrive yet. ${route}.`
    case "active":
      return "The domain is active."
    case "deleting":
      return "The domain is being deleted."
  }
}

const pendingMessage = (domain: Domain, obstacle: Obstacle): string => {
  const record = `the CNAME record ${domain.validation_cname_name} with the value ${domain.validation_cname_value}`
  switch (obstacle._tag) {
    case "NoRecord":
      return `Not validated yet: add ${record}. A new record can take a while to be seen everywhere.`
    case "OtherRecord":
      return `Not validated yet: ${domain.validation_cname_name} points to something else; add ${record} instead.`
    case "NoDns":
      return `Not validated yet: the DNS did not answer. Make sure that there is ${record}.`
    case "NoCertificate":
      return `Not validated yet: ${record} exists, but the certificate could not be issued: ${obstacle.reason}.`
    case "Underway":
      return `A check is in progress. Make sure that there is ${record}.`
  }
}
