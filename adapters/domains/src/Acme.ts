/**
 * `Certificates` by ACME (RFC 8555), with challenges of the type DNS-01. `_acme-challenge.<domain>` is a CNAME of a name in
 * our validation zone, where the response is a TXT record.
 */
import { type CertificateOrder, Certificates, CertificateUnavailable, Timestamp } from "@weft/core/adapter"
import { Duration, Effect, Layer, Redacted } from "effect"
import type { TxtRecords } from "./TxtRecords.ts"

export interface AcmeOptions {
  /** The directory of the authority, such as `https://acme-v02.api.letsencrypt.org/directory`. */
  readonly directoryUrl: string
  /** PEM. The account belongs to this key, so keep it. The first order creates the account. */
  readonly accountKey: string | Redacted.Redacted<string>
  /** Contact address of the account. Using this adapter agrees to the terms of the authority. */
  readonly email?: string
  /** External account binding, for authorities that require it. */
  readonly externalAccount?: { readonly kid: string; readonly hmacKey: string | Redacted.Redacted<string> }
  readonly records: TxtRecords
}

type AcmeModule = typeof import("acme-client")
type Client = InstanceType<AcmeModule["Client"]>
type Authorization = Awaited<ReturnType<Client["getAuthorizations"]>>[number]

/** Time limit of a request, shorter than that of a domain check. */
const orderTimeout = Duration.minutes(4)
const removalTimeout = Duration.seconds(20)

const reveal = (secret: string | Redacted.Redacted<string>): string =>
  typeof secret === "string" ? secret : Redacted.value(secret)

const silent = "the certificate authority did not answer as it should"
const unconfirmed = "the certificate authority could not confirm the record"
const unwritten = "the answer to the certificate authority could not be put into the DNS"

export const certificates = (options: AcmeOptions): Layer.Layer<Certificates> =>
  Layer.effect(
    Certificates,
    Effect.gen(function* () {
      // Loaded on first use: it is large, and most hosts leave TLS to a proxy.
      const module = yield* Effect.cached(Effect.promise(() => import("acme-client")))
      const opened = yield* Effect.cachedInvalidateWithTTL(
        Effect.flatMap(module, (loaded) => openAccount(loaded, options)),
        Duration.infinity
      )
      const [account, forget] = opened
      // A failure is not cached: the next order tries again.
      const client = Effect.tapError(account, () => forget)

      const place = Effect.fnUntraced(function* ({ domain, challengeName }: CertificateOrder) {
        const ready = yield* client
        const order = yield* attempt(silent, () => ready.createOrder({ identifiers: [{ type: "dns", value: domain }] }))
        const authorizations = yield* attempt(silent, () => ready.getAuthorizations(order))
        for (const authorization of authorizations)
          yield* authorize(ready, options.records, authorization, challengeName)
        const { crypto } = yield* module
        const key = yield* attempt(silent, () => crypto.createPrivateEcdsaKey())
        const [, request] = yield* attempt(silent, () => crypto.createCsr({ altNames: [domain] }, key))
        const chain = yield* attempt(silent, async () =>
          ready.getCertificate(await ready.finalizeOrder(order, request))
        )
        const { notAfter } = crypto.readCertificateInfo(chain)
        return { chain, privateKey: Redacted.make(key.toString()), notAfter: Timestamp.make(notAfter.getTime()) }
      })

      return Certificates.of({
        issue: (order) =>
          Effect.timeoutOrElse(place(order), {
            duration: orderTimeout,
            orElse: () => Effect.fail(new CertificateUnavailable({ reason: silent, cause: "it took too long" }))
          }),

        revoke: ({ chain }) =>
          Effect.flatMap(client, (ready) => attempt(silent, () => ready.revokeCertificate(chain))).pipe(
            Effect.catchIf(
              (error) => isRevoked(error.cause),
              () => Effect.void
            )
          )
      })
    })
  )

const attempt = <A>(reason: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new CertificateUnavailable({ reason, cause }) })

/** Creates a client with its account. */
const openAccount = Effect.fnUntraced(function* ({ Client }: AcmeModule, options: AcmeOptions) {
  const { directoryUrl, accountKey, email, externalAccount } = options
  const client = new Client({
    directoryUrl,
    accountKey: reveal(accountKey),
    ...(externalAccount === undefined
      ? {}
      : {
          externalAccountBinding: { kid: externalAccount.kid, hmacKey: reveal(externalAccount.hmacKey) }
        })
  })
  const contact = email === undefined ? {} : { contact: [`mailto:${email}`] }
  yield* attempt(silent, () => client.createAccount({ termsOfServiceAgreed: true, ...contact }))
  return client
})

/** Completes the challenge of an authorization, and always removes its record afterwards. */
const authorize = Effect.fnUntraced(function* (
  client: Client,
  records: TxtRecords,
  authorization: Authorization,
  name: string
) {
  // Valid already, from an earlier order that failed later.
  if (authorization.status === "valid") return
  const challenge = authorization.challenges.find(({ type }) => type === "dns-01")
  if (challenge === undefined) {
    return yield* new CertificateUnavailable({ reason: silent, cause: "it offers no challenge of the type dns-01" })
  }
  const value = yield* attempt(silent, () => client.getChallengeKeyAuthorization(challenge))
  yield* attempt(unwritten, () => records.put(name, value)).pipe(
    Effect.andThen(
      attempt(unconfirmed, async () => {
        await client.completeChallenge(challenge)
        await client.waitForValidStatus(challenge)
      })
    ),
    Effect.ensuring(takeBack(records, name, value))
  )
})

/** Removes the record even after a failed or interrupted attempt, which may have succeeded. */
const takeBack = (records: TxtRecords, name: string, value: string): Effect.Effect<void> =>
  attempt(unwritten, () => records.remove(name, value)).pipe(
    // A host that never answers must not block the check of a domain.
    Effect.interruptible,
    Effect.timeout(removalTimeout),
    Effect.catch((error) => Effect.logWarning(`the record at ${name} could not be removed`, error))
  )

const isRevoked = (cause: unknown): boolean => cause instanceof Error && /already.*revoked/i.test(cause.message)
