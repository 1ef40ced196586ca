/** Sample secrets; see `Samples.ts`. */
import { ContextVariable, Domain, DomainId, HostName, Sealed } from "@weft/core/adapter"
import { Base64Url } from "effect/encoding"
import { at, envId, orgId, projectId } from "./Samples.ts"

/** Returns a value sealed by key `keyId`. Stores read only the key id. */
export const sealWith = (keyId: string, text: string): Sealed =>
  Sealed.make(`${keyId}.AAECAwQFBgcICQoL.${Base64Url.encode(text)}`)

/** A variable of project 1 of environment 1. */
export const variable = (
  key: string,
  fields: { readonly [K in keyof ContextVariable]?: ContextVariable[K] } = {}
): ContextVariable =>
  new ContextVariable({
    project_id: projectId(1),
    env_id: envId(1),
    key,
    value: sealWith("0123456789abcdef", key),
    description: "",
    created_at: at(1),
    updated_at: at(1),
    ...fields
  })

export const certifiedId = DomainId.make("01976a2b-00c0-7000-8000-000000000001")

/** A domain that may have a certificate. */
export const certified = Domain.make({
  domain_id: certifiedId,
  env_id: envId(1),
  org_id: orgId(1),
  domain: HostName.make("hooks.example.com"),
  status: "validated",
  validation_cname_name: "_acme-challenge.hooks.example.com",
  validation_cname_value: "label.validation.example.net",
  routing_domain: "label.routing.example.net",
  created_at: at(1),
  checks: 0,
  next_check_at: at(1),
  held_until: null,
  failed_orders: 0,
  next_order_at: at(1),
  version: 0
})
