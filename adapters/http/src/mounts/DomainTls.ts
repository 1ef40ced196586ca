/** TLS for custom domains: each connection gets the certificate of the name that its client asks for. */
import { createServer, type Server, type ServerOptions } from "node:https"
import { createSecureContext, type SecureContext } from "node:tls"
import { DomainCertificates, type OpenCertificate, type WeftServices } from "@weft/core"
import { Context, Effect, Redacted } from "effect"

export interface TlsOptions {
  /** Where to listen for TLS, on the same address; 0 picks a free one. */
  readonly port: number
}

/** A server for the names that have a certificate here; it shows nothing to clients that ask for another, or for none. */
export const makeTlsServer = (context: Context.Context<WeftServices>, options: ServerOptions): Server => {
  const certificates = Context.get(context, DomainCertificates)
  const run = Effect.runPromiseWith(context)
  /** By the certificate, which is the same object until it changes; making one takes a millisecond. */
  const contexts = new WeakMap<OpenCertificate, SecureContext>()

  const contextOf = (certificate: OpenCertificate): SecureContext => {
    const made = contexts.get(certificate)
    if (made !== undefined) return made
    const fresh = createSecureContext({ cert: certificate.chain, key: Redacted.value(certificate.privateKey) })
    contexts.set(certificate, fresh)
    return fresh
  }

  const find = (name: string): Promise<SecureContext | undefined> =>
    run(
      certificates.of(name).pipe(
        Effect.map((certificate) => contextOf(certificate)),
        Effect.catchTag("NotFound", () => Effect.succeed(undefined)),
        Effect.catchCause((cause) => Effect.as(Effect.logError("no certificate for a connection", cause), undefined))
      )
    )

  // Without a certificate the handshake ends with an alert.
  const SNICallback: ServerOptions["SNICallback"] = (name, done) => {
    find(name).then((found) => done(null, found), done)
  }
  return createServer({ ...options, SNICallback })
}
