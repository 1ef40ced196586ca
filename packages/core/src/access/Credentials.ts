/**
 * Who holds a token: the look-up before every request.
 *
 * Warm, it is two map look-ups: from the token to the key that it was verified against, and to that key as it
 * is now. So a disabled or removed key is refused at once on its own node, and within `ageLimit` on the others.
 *
 * Hashing a token costs more than everything else on the path (40 µs, a trip to the thread pool), hence the map
 * of verified tokens. Looking up by the whole token leaks no usable timing: a token gets there only after the
 * constant-time comparison of its hash, the map's own hash is seeded per process, and what differs is 32
 * random bytes that cannot be approached step by step.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Digest } from "effect/crypto"
import { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { makeSnapshots } from "../activity/Snapshots.ts"
import { type StoreUnavailable, Unauthorized } from "../errors/Errors.ts"
import { ApiKeyId } from "../ids/Ids.ts"
import type { ApiKey } from "./ApiKey.ts"
import { ApiKeyStore } from "./ApiKeyStore.ts"
import type { Identity } from "./Caller.ts"
import { hashSecret, isSameHash, parseToken } from "./Token.ts"

/** The longest that a revoked credential works on a node that the feed's message did not reach. */
const ageLimit = "1 second"

/** Keys, absent keys and verified tokens that a node remembers, each. */
const capacity = 10_000

/** A token that was verified: its key then. */
interface Verified {
  readonly id: ApiKeyId
  readonly secretHash: string
}

export class Credentials extends Context.Service<
  Credentials,
  {
    /** The identity behind a token, or `Unauthorized` for whatever reason there is none. */
    readonly authenticate: (token: string) => Effect.Effect<Identity, Unauthorized | StoreUnavailable>
    /** To be called after a key was made, changed or removed: this node forgets at once, the others are told. */
    readonly changed: (id: ApiKeyId) => Effect.Effect<void>
  }
>()("@weft/core/access/Credentials") {
  static readonly layer: Layer.Layer<Credentials, never, ApiKeyStore | Feed | Digest.Digest> = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const feed = yield* Feed
      const digest = yield* Digest.Digest
      const keys = yield* makeSnapshots(
        (id: ApiKeyId) => Effect.map(store.find(id), (key) => ({ key, identity: identityOf(key) })),
        { capacity, ageLimit }
      )
      /** By token, the one not used for the longest first. */
      const verified = new Map<string, Verified>()

      yield* listen((message) =>
        message.type === "api-key:changed" && isApiKeyId(message.id) ? keys.forget(message.id) : Effect.void
      )

      const current = (id: ApiKeyId) => Effect.catchTag(keys.get(id), "NotFound", () => unauthorized)

      const verify = Effect.fnUntraced(function* (text: string) {
        const token = parseToken(text)
        if (token?.type !== "api-key" || !isApiKeyId(token.id)) return yield* unauthorized
        const { key, identity } = yield* current(token.id)
        const hash = yield* Effect.provideService(hashSecret(token.secret), Digest.Digest, digest)
        if (!isSameHash(hash, key.secret_hash) || !key.enabled) return yield* unauthorized
        remember(verified, text, { id: token.id, secretHash: key.secret_hash })
        return identity
      })

      /** Whether the key that the token was verified against is still the same and enabled. */
      const check = (text: string, known: Verified) =>
        Effect.flatMap(current(known.id), ({ key, identity }) => {
          if (key.enabled && key.secret_hash === known.secretHash) {
            // Order matters only when something may have to go.
            if (verified.size > capacity / 2) remember(verified, text, known)
            return Effect.succeed(identity)
          }
          verified.delete(text)
          return unauthorized
        })

      return Credentials.of({
        authenticate: (token) =>
          Effect.suspend(() => {
            const known = verified.get(token)
            return known === undefined ? verify(token) : check(token, known)
          }),
        changed: (id) => Effect.andThen(keys.forget(id), feed.tell([{ type: "api-key:changed", id }]))
      })
    })
  )
}

const unauthorized = Effect.fail(new Unauthorized())

const isApiKeyId = Schema.is(ApiKeyId)

const identityOf = (key: ApiKey): Identity => ({
  env_id: key.env_id,
  type: "api-key",
  id: key.api_key_id,
  permissions: key.permissions,
  metadata: null
})

/** Moves the token to the end of the map and keeps the map within its bound. */
const remember = (verified: Map<string, Verified>, token: string, known: Verified): void => {
  verified.delete(token)
  verified.set(token, known)
  if (verified.size <= capacity) return
  const [oldest] = verified.keys()
  if (oldest !== undefined) verified.delete(oldest)
}
