/**
 * Authentication: finds the identity of a token before every request.
 *
 * A cached token costs two map look-ups: from the token to the credential that verified it, and to the current state of
 * that credential. A session or service key needs a third, for the current state of its API key. A change or removal
 * of a credential takes effect at once on the node that made it, and within `ageLimit` on the others.
 *
 * Hashing a token costs more than the rest of the path: 40 µs and a round trip to the thread pool. Therefore verified
 * tokens are cached. The look-up by the whole token leaks no usable timing:
 *
 * - A token enters the map only after the constant-time comparison of its hash.
 * - The map's own hash is seeded per process.
 * - Tokens differ in 32 random bytes, which cannot be guessed step by step.
 *
 * A credential whose metadata cannot be decrypted is rejected, and the error is logged. Functions may use the metadata
 * for authorization, so a caller with unreadable metadata must not appear to have no metadata.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import { NotFound, type StoreUnavailable, Unauthorized } from "../../foundation/Errors.ts"
import { isUuid } from "../../foundation/Ids.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { makeSnapshots } from "../../platform/cluster/Snapshots.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { ApiKeyStore } from "./ApiKeyStore.ts"
import type { Identity } from "./Caller.ts"
import { type CredentialKey, credentialKey, type LoadedCredential, loadCredential } from "./LoadedCredential.ts"
import { ServiceKeyStore } from "./ServiceKeyStore.ts"
import { SessionStore } from "./SessionStore.ts"
import { hashSecret, isSameHash, parseToken, type TokenType } from "./Token.ts"

/** Maximum time for which a revoked credential works on a node that missed the `credential:changed` message. */
const ageLimit = "1 second"

/** Maximum entries of each cache: credentials, absent credentials and verified tokens. */
const capacity = 10_000

/** The credential that a cached token was verified with. */
interface VerifiedToken {
  readonly key: CredentialKey
  readonly secretHash: string
}

export class Credentials extends Context.Service<
  Credentials,
  {
    /** Returns the identity of a token. All invalid tokens fail with the same `Unauthorized`. */
    readonly authenticate: (token: string) => Effect.Effect<Identity, Unauthorized | StoreUnavailable>
    /**
     * Removes credentials from the cache of this node and notifies the other nodes. Call it after credentials were
     * changed or removed, or created with ids that clients could know before.
     */
    readonly changed: (type: TokenType, ids: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("@weft/core/tenants/access/Credentials") {
  static readonly layer: Layer.Layer<
    Credentials,
    never,
    ApiKeyStore | SessionStore | ServiceKeyStore | Keyring | ClusterBus | Digest.Digest
  > = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const stores = { apiKeys: yield* ApiKeyStore, sessions: yield* SessionStore, serviceKeys: yield* ServiceKeyStore }
      const keyring = yield* Keyring
      const bus = yield* ClusterBus
      const digest = yield* Digest.Digest
      const snapshots = yield* makeSnapshots(
        (key: CredentialKey) =>
          Effect.catchTag(loadCredential(stores, keyring, key), "CannotOpen", (error) =>
            Effect.andThen(Effect.logError(error.message), Effect.fail(new NotFound({ resource: "credential" })))
          ),
        { capacity, ageLimit }
      )
      /** Verified tokens, the least recently used first. */
      const verified = new Map<string, VerifiedToken>()

      yield* subscribe(
        (message) =>
          message.type === "credential:changed"
            ? snapshots.invalidate(credentialKey(message.credential, message.id))
            : Effect.void,
        snapshots.invalidateAll
      )

      const current = (key: CredentialKey) => Effect.catchTag(snapshots.get(key), "NotFound", () => unauthorized)

      /** Returns the current identity of a credential. */
      const identify = (loaded: LoadedCredential): Effect.Effect<Identity, Unauthorized | StoreUnavailable> => {
        if (!loaded.isEnabled) return unauthorized
        const { parent } = loaded
        if (parent === null) return Effect.succeed(loaded.identity)
        return Effect.flatMap(Clock.currentTimeMillis, (now) =>
          now >= loaded.expiresAt
            ? unauthorized
            : Effect.flatMap(current(parent), (apiKey) =>
                apiKey.isEnabled ? Effect.succeed(loaded.narrowTo(apiKey.identity.permissions)) : unauthorized
              )
        )
      }

      const verify = Effect.fnUntraced(function* (text: string) {
        const token = parseToken(text)
        if (token === null || !isUuid(token.id)) return yield* unauthorized
        const key = credentialKey(token.type, token.id)
        const loaded = yield* current(key)
        const hash = yield* Effect.provideService(hashSecret(token.secret), Digest.Digest, digest)
        if (!isSameHash(hash, loaded.secretHash)) return yield* unauthorized
        const identity = yield* identify(loaded)
        cacheToken(verified, text, { key, secretHash: loaded.secretHash })
        return identity
      })

      /** Checks that the credential of a cached token has the same secret and is valid. */
      const check = (text: string, known: VerifiedToken) =>
        Effect.flatMap(current(known.key), (loaded) => {
          if (loaded.secretHash !== known.secretHash) {
            verified.delete(text)
            return unauthorized
          }
          // The order only matters when the map is about to evict entries.
          if (verified.size > capacity / 2) cacheToken(verified, text, known)
          return identify(loaded)
        })

      return Credentials.of({
        authenticate: (token) =>
          Effect.suspend(() => {
            const known = verified.get(token)
            return known === undefined ? verify(token) : check(token, known)
          }),
        changed: (type, ids) =>
          Effect.andThen(
            Effect.forEach(ids, (id) => snapshots.invalidate(credentialKey(type, id)), { discard: true }),
            bus.sendControl(ids.map((id) => ({ type: "credential:changed", credential: type, id })))
          )
      })
    })
  )
}

const unauthorized = Effect.fail(new Unauthorized())

/** Moves the token to the end of the map and evicts the first token if the map is full. */
const cacheToken = (verified: Map<string, VerifiedToken>, token: string, known: VerifiedToken): void => {
  verified.delete(token)
  verified.set(token, known)
  if (verified.size <= capacity) return
  const [oldest] = verified.keys()
  if (oldest !== undefined) verified.delete(oldest)
}
