/** Where certificates for custom domains come from. */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { HostName } from "./HostName.ts"

export interface IssuedCertificate {
  /** PEM: the certificate, then those that lead to its authority. */
  readonly chain: string
  /** PEM. */
  readonly privateKey: Redacted.Redacted<string>
  readonly notAfter: Timestamp
}

export interface CertificateOrder {
  readonly domain: HostName
  /**
   * The name in our zone that `_acme-challenge.<domain>` is a CNAME of: a TXT record there answers a challenge of
   * the type DNS-01.
   */
  readonly challengeName: string
}

/**
 * No certificate this time. `reason` is for the owner of the domain and must hold nothing of ours; `cause` is for our
 * logs. Tried again later.
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
     * A new certificate, also to renew one; null where it is not for this server to have one. Takes as long as the
     * authority does, up to 4 minutes, and leaves no record in the DNS behind, also when interrupted.
     */
    readonly issue: (order: CertificateOrder) => Effect.Effect<IssuedCertificate | null, CertificateUnavailable>
    /** Tells the authority that the certificate is no longer in use. One that it no longer knows is no failure. */
    readonly revoke: (certificate: { readonly chain: string }) => Effect.Effect<void, CertificateUnavailable>
  }
>()("@weft/core/domains/Certificates") {
  /** TLS ends at a proxy before this server, which has certificates of its own: there is nothing to issue. */
  static readonly external: Layer.Layer<Certificates> = Layer.succeed(Certificates, {
    issue: () => Effect.succeed(null),
    revoke: () => Effect.void
  })
}
