/**
 * A custom domain: a tenant's own host name for its webhooks (specification, "Custom domain").
 *
 *     pending_validation --CNAME found, certificate issued--> validated --target prepared--> provisioning
 *       --the name resolves to the target--> active          any --DELETE--> deleting --resources released--> (removed)
 *
 * Requests are routed from `validated` on, so that none is lost while the tenant's DNS changes.
 */
import { Schema } from "effect"
import { DomainId, EnvId, OrgId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { HostName } from "./HostName.ts"

export const DomainStatus = Schema.Literals(["pending_validation", "validated", "provisioning", "active", "deleting"])
export type DomainStatus = typeof DomainStatus.Type

const counter = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const Domain = Schema.Struct({
  domain_id: DomainId,
  env_id: EnvId,
  /** Organization of the environment, whose plan limits the number of domains. */
  org_id: OrgId,
  /** Unique across all environments. */
  domain: HostName,
  status: DomainStatus,
  /** Name of the CNAME record that proves control of the domain and delegates the authority's challenge to Weft. */
  validation_cname_name: Schema.String,
  /** Target of that record. Random and unique per registration, so that it cannot be created in advance. */
  validation_cname_value: Schema.String,
  /** Null until the domain is validated. */
  routing_domain: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  /** Checks since the last change of status, for the back-off. */
  checks: counter,
  /** Time of the next check. */
  next_check_at: Timestamp,
  /** Expiry of the current claim; null without one. */
  held_until: Schema.NullOr(Timestamp),
  /** Consecutive failed certificate orders. */
  failed_orders: counter,
  /** Time before which no certificate may be ordered. */
  next_order_at: Timestamp,
  /** Incremented by every write; the fencing token of a claim. */
  version: counter
})
export type Domain = typeof Domain.Type

/** A routed host name and its environment, with the names in webhook URLs. */
export const DomainRoute = Schema.Struct({ domain: HostName, org_slug: Schema.String, env_name: Schema.String })
export type DomainRoute = typeof DomainRoute.Type

/** True if requests for the domain are routed to its environment. */
export const isRouted = (status: DomainStatus): boolean => status !== "pending_validation" && status !== "deleting"
