/** The certificate of a domain as it is stored. */
import { Schema } from "effect"
import type { Place } from "../encryption/Keyring.ts"
import { Sealed } from "../encryption/Sealed.ts"
import { DomainId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"

export const DomainCertificate = Schema.Struct({
  domain_id: DomainId,
  /** PEM: the certificate, then those that lead to its authority. */
  chain: Schema.String,
  /** PEM, sealed for `certificatePlace`. */
  private_key: Sealed,
  /** When it ends, and when to have a new one by. */
  not_after: Timestamp,
  renew_at: Timestamp
})
export type DomainCertificate = typeof DomainCertificate.Type

export const certificatePlace = (domainId: DomainId): Place => ({ table: "certificates", id: domainId })
