/**
 * A custom domain: a tenant's own host name for its webhooks (specification, "Custom domain").
 *
 *     pending_validation --CNAME there, certificate issued--> validated --target prepared--> provisioning
 *       --the name leads to the target--> active          any --DELETE--> deleting --cleaned up--> (gone)
 *
 * Requests are routed from `validated` on, so that nothing is lost while the tenant's DNS changes.
 */
import { Schema } from "effect"
import { DomainId, EnvId, OrgId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { HostName } from "./HostName.ts"

export const DomainStatus = Schema.Literals(["pending_validation", "validated", "provisioning", "active", "deleting"])
export type DomainStatus = typeof DomainStatus.Type

const counter = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const Domain = Schema.Struct({
  domain_id: DomainId,
  env_id: EnvId,
  /** The organization of the environment, whose plan limits how many there are. */
  org_id: OrgId,
  /** Registered once in all environments. */
  domain: HostName,
  status: DomainStatus,
  /** The CNAME record that proves control of the domain, and lets us answer a certificate authority's challenge. */
  validation_cname_name: Schema.String,
  /** Not to be guessed, so that nobody can lay the record beforehand, and of this registration only. */
  validation_cname_value: Schema.String,
  /** Null until validated. */
  routing_domain: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  /** Checks since the last step forward: the measure of the back-off. */
  checks: counter,
  /** When the next check is due. */
  next_check_at: Timestamp,
  /** Until when somebody is checking it; null while nobody is. */
  held_until: Schema.NullOr(Timestamp),
  /** Orders of a certificate that failed since the last that did not, and until when no other may be placed. */
  failed_orders: counter,
  next_order_at: Timestamp,
  /** Raised by every write: the fence of whoever checks. */
  version: counter
})
export type Domain = typeof Domain.Type

/** A host name that requests are routed by, and the environment behind it as webhook URLs name it. */
export const DomainRoute = Schema.Struct({ domain: HostName, org_slug: Schema.String, env_name: Schema.String })
export type DomainRoute = typeof DomainRoute.Type

/** Whether requests for the domain reach the functions of its environment. */
export const isRouted = (status: DomainStatus): boolean => status !== "pending_validation" && status !== "deleting"
