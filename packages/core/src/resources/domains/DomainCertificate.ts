/** Stored certificate of a domain. */
import { Schema } from "effect"
import { DomainId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { SealContext } from "../../platform/encryption/Keyring.ts"
import { Sealed } from "../../platform/encryption/Sealed.ts"

export const DomainCertificate = Schema.Struct({
  domain_id: DomainId,
  /** PEM: the certificate, then its intermediate certificates. */
  chain: Schema.String,
  /** Encrypted PEM, with the associated data of `certificatePlace`. */
  private_key: Sealed,
  /** Expiry of the certificate. */
  not_after: Timestamp,
  /** Time from which the certificate is renewed. */
  renew_at: Timestamp
})
export type DomainCertificate = typeof DomainCertificate.Type

export const certificatePlace = (domainId: DomainId): SealContext => ({ table: "certificates", id: domainId })
