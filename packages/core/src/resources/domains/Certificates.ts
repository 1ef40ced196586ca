/** Issuer of certificates for custom domains. */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { HostName } from "./HostName.ts"

export interface IssuedCertificate {
  /** PEM: the certificate, then its intermediate certificates. */
  readonly chain: string
  /** PEM. */
  readonly privateKey: Redacted.Redacted<string>
  readonly notAfter: Timestamp
}

export interface CertificateOrder {
  readonly domain: HostName
  /**
   * Name in the validation zone to which the CNAME record `_acme-challenge.<domain>` points. A TXT record there answers a
   * DNS-01 challenge.
   */
  readonly challengeName: string
}

/**
 * The certificate could not be issued. Retried later. `reason` is for the owner of the domain and must not reveal
 * internals of the service. `cause` is only for logs.
 */
export class CertificateUnavailable extends Schema.TaggedError<CertificateUnavailable>()("CertificateUnavailable", {
  reason: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return this.reason
  }
}

export class Certificates extends Context.Service<
  Certificates,
  {
    /**
     * Issues a new certificate, also for a renewal. Returns null if this server does not manage certificates. Takes up to
     * 4 minutes, depending on the authority. Removes its DNS records, also when interrupted.
     */
    readonly issue: (order: CertificateOrder) => Effect.Effect<IssuedCertificate | null, CertificateUnavailable>
    /** Revokes a certificate that is no longer in use. Succeeds if the authority does not know the certificate. */
    readonly revoke: (certificate: { readonly chain: string }) => Effect.Effect<void, CertificateUnavailable>
  }
>()("@weft/core/resources/domains/Certificates") {
  /** Issues nothing, because a proxy in front of this server terminates TLS with its own certificates. */
  static readonly external: Layer.Layer<Certificates> = Layer.succeed(Certificates, {
    issue: () => Effect.succeed(null),
    revoke: () => Effect.void
  })
}
