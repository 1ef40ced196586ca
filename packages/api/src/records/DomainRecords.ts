/** Custom domains on the wire: the specification's fields, without what only the checks need. */
import { Domain } from "@weft/core"
import { Schema, Struct } from "effect"
import { Instant } from "./Wire.ts"

export const DomainRecord = Schema.Struct({
  ...Struct.pick(Domain.fields, [
    "domain_id",
    "env_id",
    "domain",
    "status",
    "validation_cname_name",
    "validation_cname_value",
    "routing_domain"
  ]),
  created_at: Instant
}).annotate({ identifier: "Domain" })

/** Where a domain stands, and what its owner is to do. */
export const VerificationRecord = Schema.Struct({
  ...Struct.pick(Domain.fields, ["domain_id", "domain", "status"]),
  message: Schema.String.annotate({ description: "What to do next; while pending it names the CNAME record to add" })
}).annotate({ identifier: "DomainVerification" })
