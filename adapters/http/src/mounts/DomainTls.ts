/** TLS for custom domains. Each connection gets the certificate of its SNI name. */
import { createServer, type Server, type ServerOptions } from "node:https"
import { createSecureContext, type SecureContext } from "node:tls"
import type { WeftServices } from "@weft/core"
import { DomainCertificates, type OpenCertificate } from "@weft/core/internal"
import { Context, Effect, Redacted } from "effect"

export interface TlsOptions {
  /** The port for TLS, on the same address; 0 picks a free one. */
  readonly port: number
}

/** Makes a TLS server for the names with a certificate. Connections with another name, or with none, fail. */
export const makeTlsServer = (context: Context.Context<WeftServices>, options: ServerOptions): Server => {
  const certificates = Context.get(context, DomainCertificates)
  const run = Effect.runPromiseWith(context)
  /**
   * Cached per certificate object, which stays the same until renewal. Creating a context takes about 1 ms. Undefined for an
   * unusable certificate, so that strangers cannot fill the log with it.
   */
  const contexts = new WeakMap<OpenCertificate, SecureContext | undefined>()

  const secureContextFor = (name: string, certificate: OpenCertificate): Effect.Effect<SecureContext | undefined> =>
    Effect.suspend(() => {
      if (contexts.has(certificate)) return Effect.succeed(contexts.get(certificate))
      try {
        const created = createSecureContext({ cert: certificate.chain, key: Redacted.value(certificate.privateKey) })
        contexts.set(certificate, created)
        return Effect.succeed(created)
      } catch (error) {
        contexts.set(certificate, undefined)
        const advice = "its chain and its private key must be PEM and belong together"
        return Effect.as(Effect.logError(`the certificate for ${name} cannot be used: ${advice}`, error), undefined)
      }
    })

  const find = (name: string): Promise<SecureContext | undefined> =>
    run(
      certificates.of(name).pipe(
        Effect.flatMap((certificate) => secureContextFor(name, certificate)),
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
