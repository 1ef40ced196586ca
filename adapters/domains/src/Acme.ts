/**
 * `Certificates` by ACME (RFC 8555), with challenges of the type DNS-01: `_acme-challenge.<domain>` is a CNAME of a
 * name in our validation zone, where the answer is put as a TXT record.
 */
import { type CertificateOrder, Certificates, CertificateUnavailable, Timestamp } from "@weft/core"
import { Duration, Effect, Layer, Redacted } from "effect"
import type { TxtRecords } from "./TxtRecords.ts"

export interface AcmeOptions {
  /** The directory of the authority, such as `https://acme-v02.api.letsencrypt.org/directory`. */
  readonly directoryUrl: string
  /** PEM. The account belongs to it, so it must be kept; an account is made at the first order. */
  readonly accountKey: Redacted.Redacted<string>
  /** Using this says that its terms are agreed to. Where the authority writes to about the account. */
  readonly email?: string
  /** For authorities that want their accounts bound to one of theirs. */
  readonly externalAccount?: { readonly kid: string; readonly hmacKey: Redacted.Redacted<string> }
  readonly records: TxtRecords
}

type AcmeModule = typeof import("acme-client")
type Client = InstanceType<AcmeModule["Client"]>
type Authorization = Awaited<ReturnType<Client["getAuthorizations"]>>[number]

/** Shorter than what a check of a domain is given. */
const orderTimeout = Duration.minutes(4)
const removalTimeout = Duration.seconds(20)

const silent = "the certificate authority did not answer as it should"
const unconfirmed = "the certificate authority could not confirm the record"
const unwritten = "the answer to the certificate authority could not be put into the DNS"

export const acme = (options: AcmeOptions): Layer.Layer<Certificates> =>
  Layer.effect(
    Certificates,
    Effect.gen(function* () {
      // Loaded when it is used: it is large, and most hosts leave TLS to a proxy.
      const module = yield* Effect.cached(Effect.promise(() => import("acme-client")))
      const opened = yield* Effect.cachedInvalidateWithTTL(
        Effect.flatMap(module, (loaded) => openAccount(loaded, options)),
        Duration.infinity
      )
      const [account, forget] = opened
      // A failure is not remembered: the next order asks again.
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

/** A client whose account is there. */
const openAccount = Effect.fnUntraced(function* ({ Client }: AcmeModule, options: AcmeOptions) {
  const { directoryUrl, accountKey, email, externalAccount } = options
  const client = new Client({
    directoryUrl,
    accountKey: Redacted.value(accountKey),
    ...(externalAccount === undefined
      ? {}
      : {
          externalAccountBinding: { kid: externalAccount.kid, hmacKey: Redacted.value(externalAccount.hmacKey) }
        })
  })
  const contact = email === undefined ? {} : { contact: [`mailto:${email}`] }
  yield* attempt(silent, () => client.createAccount({ termsOfServiceAgreed: true, ...contact }))
  return client
})

/** Answers the challenge of an authorization; the record is gone afterwards, however it ended. */
const authorize = Effect.fnUntraced(function* (
  client: Client,
  records: TxtRecords,
  authorization: Authorization,
  name: string
) {
  // Of an earlier order that went wrong later.
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

/** Also what may not have been put: an attempt that failed or was interrupted can have come through. */
const takeBack = (records: TxtRecords, name: string, value: string): Effect.Effect<void> =>
  attempt(unwritten, () => records.remove(name, value)).pipe(
    // A host that never answers must not hold up the check of a domain for ever.
    Effect.interruptible,
    Effect.timeout(removalTimeout),
    Effect.catch((error) => Effect.logWarning(`the record at ${name} could not be removed`, error))
  )

const isRevoked = (cause: unknown): boolean => cause instanceof Error && /already.*revoked/i.test(cause.message)
