/** Sample domains and certificates, the same in every run. */
import { type Domain, type DomainCertificate, DomainId, HostName, Sealed } from "@weft/core/adapter"
import { at, envId, orgId } from "./Samples.ts"

export const domainId = (n: number): DomainId =>
  DomainId.make(`01976a2b-000d-7000-8000-${n.toString(16).padStart(12, "0")}`)

/** A domain of environment 1 of organization 1, due at `at(n)`. */
export const domain = (n: number, fields: Partial<Domain> = {}): Domain => ({
  domain_id: domainId(n),
  env_id: envId(1),
  org_id: orgId(1),
  domain: HostName.make(`d${n}.example.com`),
  status: "pending_validation",
  validation_cname_name: `_acme-challenge.d${n}.example.com`,
  validation_cname_value: `${n}.validation.example`,
  routing_domain: null,
  created_at: at(n),
  checks: 0,
  next_check_at: at(n),
  held_until: null,
  failed_orders: 0,
  next_order_at: at(0),
  version: 0,
  ...fields
})

/** As `domain`, but validated. */
export const routed = (n: number, fields: Partial<Domain> = {}): Domain =>
  domain(n, { status: "active", routing_domain: `${n}.routing.example`, ...fields })

/** The certificate of domain `n`. */
export const certificate = (n: number, fields: Partial<DomainCertificate> = {}): DomainCertificate => ({
  domain_id: domainId(n),
  chain: `-----BEGIN CERTIFICATE-----\n${n}\n-----END CERTIFICATE-----\n`,
  private_key: Sealed.make(`0123456789abcdef.nonce.key${n}`),
  not_after: at(90_000),
  renew_at: at(60_000),
  ...fields
})
