/**
 * Who holds a token: the look-up before every request.
 *
 * Warm, it is two map look-ups: from the token to the credential that it was verified against, and to that credential
 * as it is now; a session or service key takes a third, to its API key as it is now. So a disabled, revoked, narrowed
 * or removed credential is refused or narrowed at once on its own node, and within `ageLimit` on the others.
 *
 * Hashing a token costs more than everything else on the path (40 µs, a trip to the thread pool), hence the map
 * of verified tokens. Looking up by the whole token leaks no usable timing: a token gets there only after the
 * constant-time comparison of its hash, the map's own hash is seeded per process, and what differs is 32
 * random bytes that cannot be approached step by step.
 *
 * A credential whose metadata does not open is refused, and the log says so: functions may decide by the metadata,
 * so that a caller without it must not pass for one that has none.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { makeSnapshots } from "../activity/Snapshots.ts"
import { Keyring } from "../encryption/Keyring.ts"
import { NotFound, type StoreUnavailable, Unauthorized } from "../errors/Errors.ts"
import { isUuid } from "../ids/Ids.ts"
import { ApiKeyStore } from "./ApiKeyStore.ts"
import type { Identity } from "./Caller.ts"
import { type CredentialKey, credentialKey, type Held, heldCredential } from "./HeldCredential.ts"
import { ServiceKeyStore } from "./ServiceKeyStore.ts"
import { SessionStore } from "./SessionStore.ts"
import { hashSecret, isSameHash, parseToken, type TokenType } from "./Token.ts"

/** The longest that a revoked credential works on a node that the feed's message did not reach. */
const ageLimit = "1 second"

/** Credentials, absent credentials and verified tokens that a node remembers, each. */
const capacity = 10_000

/** A token that was verified: its credential then. */
interface Verified {
  readonly key: CredentialKey
  readonly secretHash: string
}

export class Credentials extends Context.Service<
  Credentials,
  {
    /** The identity behind a token, or `Unauthorized` for whatever reason there is none. */
    readonly authenticate: (token: string) => Effect.Effect<Identity, Unauthorized | StoreUnavailable>
    /**
     * To be called after credentials were changed or removed, or made with ids that others could know before: this
     * node forgets at once, the others are told.
     */
    readonly changed: (type: TokenType, ids: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("@weft/core/access/Credentials") {
  static readonly layer: Layer.Layer<
    Credentials,
    never,
    ApiKeyStore | SessionStore | ServiceKeyStore | Keyring | Feed | Digest.Digest
  > = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const stores = { apiKeys: yield* ApiKeyStore, sessions: yield* SessionStore, serviceKeys: yield* ServiceKeyStore }
      const keyring = yield* Keyring
      const feed = yield* Feed
      const digest = yield* Digest.Digest
      const snapshots = yield* makeSnapshots(
        (key: CredentialKey) =>
          Effect.catchTag(heldCredential(stores, keyring, key), "CannotOpen", (error) =>
            Effect.andThen(Effect.logError(error.message), Effect.fail(new NotFound({ resource: "credential" })))
          ),
        { capacity, ageLimit }
      )
      /** By token, the one not used for the longest first. */
      const verified = new Map<string, Verified>()

      yield* listen(
        (message) =>
          message.type === "credential:changed"
            ? snapshots.forget(credentialKey(message.credential, message.id))
            : Effect.void,
        snapshots.forgetAll
      )

      const current = (key: CredentialKey) => Effect.catchTag(snapshots.get(key), "NotFound", () => unauthorized)

      /** The identity that a credential gives now. */
      const identify = (held: Held): Effect.Effect<Identity, Unauthorized | StoreUnavailable> => {
        if (!held.isEnabled) return unauthorized
        const { parent } = held
        if (parent === null) return Effect.succeed(held.identity)
        return Effect.flatMap(Clock.currentTimeMillis, (now) =>
          now >= held.expiresAt
            ? unauthorized
            : Effect.flatMap(current(parent), (apiKey) =>
                apiKey.isEnabled ? Effect.succeed(held.under(apiKey.identity.permissions)) : unauthorized
              )
        )
      }

      const verify = Effect.fnUntraced(function* (text: string) {
        const token = parseToken(text)
        if (token === null || !isUuid(token.id)) return yield* unauthorized
        const key = credentialKey(token.type, token.id)
        const held = yield* current(key)
        const hash = yield* Effect.provideService(hashSecret(token.secret), Digest.Digest, digest)
        if (!isSameHash(hash, held.secretHash)) return yield* unauthorized
        const identity = yield* identify(held)
        remember(verified, text, { key, secretHash: held.secretHash })
        return identity
      })

      /** Whether the credential that the token was verified against is still the same and valid. */
      const check = (text: string, known: Verified) =>
        Effect.flatMap(current(known.key), (held) => {
          if (held.secretHash !== known.secretHash) {
            verified.delete(text)
            return unauthorized
          }
          // Order matters only when something may have to go.
          if (verified.size > capacity / 2) remember(verified, text, known)
          return identify(held)
        })

      return Credentials.of({
        authenticate: (token) =>
          Effect.suspend(() => {
            const known = verified.get(token)
            return known === undefined ? verify(token) : check(token, known)
          }),
        changed: (type, ids) =>
          Effect.andThen(
            Effect.forEach(ids, (id) => snapshots.forget(credentialKey(type, id)), { discard: true }),
            feed.tell(ids.map((id) => ({ type: "credential:changed", credential: type, id })))
          )
      })
    })
  )
}

const unauthorized = Effect.fail(new Unauthorized())

/** Moves the token to the end of the map and keeps the map within its bound. */
const remember = (verified: Map<string, Verified>, token: string, known: Verified): void => {
  verified.delete(token)
  verified.set(token, known)
  if (verified.size <= capacity) return
  const [oldest] = verified.keys()
  if (oldest !== undefined) verified.delete(oldest)
}
