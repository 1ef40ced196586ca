/**
 * Service keys: long-lived credentials (specification, "Service keys").
 *
 * Only API keys have service keys. Every method applies to those of the calling API key.
 */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { Digest, SecureRandom } from "effect/crypto"
import {
  type BadRequest,
  type Forbidden,
  NotFound,
  type PermissionEscalation,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { freshIds, ServiceKeyId } from "../../foundation/Ids.ts"
import type { JsonText } from "../../foundation/JsonText.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { addMillis, now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { type Caller, requireApiKey } from "./Caller.ts"
import { Credentials } from "./Credentials.ts"
import { checkLabel, delegate, parseLifetime } from "./Delegation.ts"
import { checkMetadata, sealMetadata, showMetadata } from "./Metadata.ts"
import { isActive, ServiceKey, serviceKeyPlace } from "./ServiceKey.ts"
import { ServiceKeyStore } from "./ServiceKeyStore.ts"
import { formatToken, hashSecret, mintToken } from "./Token.ts"

export interface NewServiceKey {
  /** At most 128 characters; empty by default. */
  readonly name?: string
  /** At most 1024 characters; empty by default. */
  readonly description?: string
  /** A permission map: a subset of the permissions of the calling key. */
  readonly permissions: unknown
  /** At most 64 KiB as JSON text; none by default. */
  readonly metadata?: Schema.Json
  /** Lifetime in seconds, 1 to 3,153,600,000 (100 years); null, the default, for a key that never expires. */
  readonly expires_in?: number | null
}

/** A service key as returned to its API key. */
export interface ShownServiceKey
  extends Pick<
    ServiceKey,
    "service_key_id" | "name" | "description" | "permissions" | "expires_at" | "revoked_at" | "created_at"
  > {
  readonly metadata: JsonText
  /** True if the key is neither revoked nor expired. The API key may still be disabled. */
  readonly active: boolean
}

type Denied = Forbidden | StoreUnavailable

export class ServiceKeys extends Context.Service<
  ServiceKeys,
  {
    /** Creates a key and returns its token, which cannot be read later. Needs `key: create`. */
    readonly create: (
      input: NewServiceKey
    ) => Effect.Effect<
      { readonly key: ShownServiceKey; readonly token: Redacted.Redacted<string> },
      Denied | BadRequest | PermissionEscalation,
      Caller
    >
    /** Returns all keys, including revoked and expired ones, newest first. Needs `key: read`. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<ShownServiceKey>, Denied, Caller>
    /** Needs `key: read`. */
    readonly get: (id: string) => Effect.Effect<ShownServiceKey, Denied | NotFound, Caller>
    /** Revokes a key. `NotFound` if it is already revoked or belongs to another API key. Needs `key: delete`. */
    readonly revoke: (id: string) => Effect.Effect<void, Denied | NotFound, Caller>
    /** Revokes all active keys and returns their number. Needs `key: delete`. */
    readonly revokeAll: Effect.Effect<number, Denied, Caller>
  }
>()("@weft/core/tenants/access/ServiceKeys") {
  static readonly layer: Layer.Layer<
    ServiceKeys,
    never,
    ServiceKeyStore | Credentials | Keyring | Digest.Digest | SecureRandom.SecureRandom
  > = Layer.effect(
    ServiceKeys,
    Effect.gen(function* () {
      const store = yield* ServiceKeyStore
      const credentials = yield* Credentials
      const keyring = yield* Keyring
      const freshId = yield* freshIds
      const crypto = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom>()

      const show = Effect.fnUntraced(function* (
        key: ServiceKey,
        instant: Timestamp
      ): Effect.fn.Return<ShownServiceKey> {
        const { service_key_id, name, description, permissions, expires_at, revoked_at, created_at } = key
        return {
          service_key_id,
          name,
          description,
          permissions,
          metadata: yield* showMetadata(keyring, key.metadata, serviceKeyPlace(service_key_id)),
          expires_at,
          revoked_at,
          active: isActive(key, instant),
          created_at
        }
      })

      return ServiceKeys.of({
        create: Effect.fnUntraced(function* (input) {
          const caller = yield* requireApiKey("key", "create")
          const permissions = yield* delegate(input.permissions, caller.permissions)
          const name = yield* checkLabel("name", input.name ?? "", nameLengthMax)
          const description = yield* checkLabel("description", input.description ?? "", descriptionLengthMax)
          const { expires_in = null } = input
          const millis = expires_in === null ? null : yield* parseLifetime(expires_in, secondsMax)
          const metadata = yield* checkMetadata(input.metadata)
          const id = yield* freshId(ServiceKeyId)
          const token = yield* Effect.provide(mintToken("service-key", id), crypto)
          const instant = yield* currentTime
          const key = new ServiceKey({
            service_key_id: id,
            env_id: caller.env_id,
            api_key_id: caller.id,
            name,
            description,
            permissions,
            metadata: yield* sealMetadata(keyring, metadata, serviceKeyPlace(id)),
            secret_hash: yield* Effect.provide(hashSecret(token.secret), crypto),
            expires_at: millis === null ? null : addMillis(instant, millis),
            revoked_at: null,
            created_at: instant
          })
          yield* store.insert(key)
          return { key: yield* show(key, instant), token: formatToken(token) }
        }),

        list: Effect.fnUntraced(function* (page) {
          const caller = yield* requireApiKey("key", "read")
          const { items, total } = yield* store.list(caller.id, page)
          const instant = yield* currentTime
          return { items: yield* Effect.forEach(items, (key) => show(key, instant)), total }
        }),

        get: Effect.fnUntraced(function* (text) {
          const caller = yield* requireApiKey("key", "read")
          const id = toIdOrName(text)
          if (!isServiceKeyId(id)) return yield* noSuchKey
          return yield* show(yield* store.get(caller.id, id), yield* currentTime)
        }),

        revoke: Effect.fnUntraced(function* (text) {
          const caller = yield* requireApiKey("key", "delete")
          const id = toIdOrName(text)
          if (!isServiceKeyId(id)) return yield* noSuchKey
          const revoked = store.revoke(caller.id, id, yield* currentTime)
          yield* Effect.ensuring(revoked, credentials.changed("service-key", [id]))
        }),

        revokeAll: Effect.gen(function* () {
          const caller = yield* requireApiKey("key", "delete")
          const revoked = store.revokeAll(caller.id, yield* currentTime)
          // An interruption must not leave revoked tokens in the cache of this node.
          const ids = yield* Effect.uninterruptible(
            Effect.tap(revoked, (ids) => credentials.changed("service-key", ids))
          )
          return ids.length
        })
      })
    })
  )
}

const nameLengthMax = 128
const descriptionLengthMax = 1024

const secondsMax = 100 * 365 * 86_400

const isServiceKeyId = Schema.is(ServiceKeyId)

const noSuchKey = new NotFound({ resource: "service key" })
