/** The rules of a domain's way from registered to active, and what its owner is told. Pure: `now` comes in. */
import { addMillis, Timestamp } from "../ids/Timestamp.ts"
import type { Domain } from "./Domain.ts"
import type { DomainCertificate } from "./DomainCertificate.ts"

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** How long somebody who checks a domain has it to themselves. */
export const holdMs = 5 * minuteMs

/** How long to wait after `times` checks, or orders, without success: 1, 2, 4, … minutes, at most an hour. */
export const backOffMs = (times: number): number => Math.min(minuteMs * 2 ** Math.min(times, 10), hourMs)

/** A step forward; the next one is tried at once. */
export const advanced = (domain: Domain, status: Domain["status"], now: Timestamp): Domain => ({
  ...domain,
  status,
  checks: 0,
  next_check_at: now,
  held_until: null
})

/** No step forward this time. */
export const waiting = (domain: Domain, now: Timestamp): Domain => ({
  ...domain,
  checks: domain.checks + 1,
  next_check_at: addMillis(now, backOffMs(domain.checks)),
  held_until: null
})

/** A certificate was ordered in vain: authorities count, so the next order has to wait, whoever asks for it. */
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

/** Active: nothing is left to do until the certificate is to be renewed. A look a day finds out what it should have. */
export const restingActive = (domain: Domain, certificate: DomainCertificate | null, now: Timestamp): Domain => {
  const due = [addMillis(now, dayMs), ...(certificate === null ? [] : [certificate.renew_at])]
  return {
    ...domain,
    status: "active",
    checks: 0,
    // A renewal that is due already failed just now, and waits for the next order.
    next_check_at: Timestamp.make(Math.max(Math.min(...due), Math.min(domain.next_order_at, addMillis(now, dayMs)))),
    held_until: null
  }
}

/** 30 days before the end, or in the last third of a life that is shorter than 90. */
export const renewAt = (issued: Timestamp, notAfter: Timestamp): Timestamp => {
  const lifeMs = notAfter - issued
  return addMillis(issued, Math.max(lifeMs - 30 * dayMs, (lifeMs * 2) / 3))
}

/** After how many checks of a domain that is being deleted its certificate is left to end by itself. */
export const revocationsMax = 5

/** Why a domain is still not validated. */
export type Obstacle =
  | { readonly _tag: "NoRecord" }
  | { readonly _tag: "OtherRecord" }
  | { readonly _tag: "NoDns" }
  | { readonly _tag: "NoCertificate"; readonly reason: string }
  | { readonly _tag: "Underway" }

/** What the owner of a domain is told about where it stands and what to do. */
export const messageOf = (domain: Domain, obstacle: Obstacle | null): string => {
  const route = `Add a CNAME record for ${domain.domain} that points to ${domain.routing_domain}`
  switch (domain.status) {
    case "pending_validation":
      return pendingMessage(domain, obstacle ?? { _tag: "Underway" })
    case "validated":
      return `The domain is validated. ${route}.`
    case "provisioning":
      return `The domain is validated and waits for its traffic. ${route}.`
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
      return `Not validated yet: ${record} is there, but there is no certificate so far: ${obstacle.reason}.`
    case "Underway":
      return `A check is under way. Make sure that there is ${record}.`
  }
}
