/** Wire format of custom domains: the fields of the specification, without those of the background checks. */
import { Domain } from "@weft/core/adapter"
import { Schema } from "effect"
import { example } from "../openapi/FieldExample.ts"
import { Instant } from "./Wire.ts"

const domain = example(Domain.fields.domain, Domain.fields.domain.make("hooks.example.com"))

export const DomainRecord = Schema.Struct({
  domain_id: Domain.fields.domain_id,
  env_id: Domain.fields.env_id,
  domain,
  status: example(Domain.fields.status, "active"),
  validation_cname_name: example(Domain.fields.validation_cname_name, "_acme-challenge.hooks.example.com"),
  validation_cname_value: example(Domain.fields.validation_cname_value, "k3v9.validation.weft.example"),
  routing_domain: example(Domain.fields.routing_domain, "k3v9.route.weft.example"),
  created_at: Instant
}).annotate({ identifier: "Domain" })

/** Status of a domain and the next step of its owner. */
export const VerificationRecord = Schema.Struct({
  domain_id: Domain.fields.domain_id,
  domain,
  status: example(Domain.fields.status, "validated"),
  message: Schema.String.annotate({
    description: "The next step; while validation is pending, the CNAME record to add",
    examples: [
      "The domain is validated. Add a CNAME record for hooks.example.com that points to k3v9.route.weft.example."
    ]
  })
}).annotate({ identifier: "DomainVerification" })
