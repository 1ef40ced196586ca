/** Management of API keys by the host and the admin routes. Checks no permissions. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type { Digest, SecureRandom } from "effect/crypto"
import { BadRequest, NotFound, type StoreUnavailable, Unauthorized } from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { ApiKeyId, EnvId, freshIds } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import { ApiKey } from "./ApiKey.ts"
import { ApiKeyStore } from "./ApiKeyStore.ts"
import type { Identity } from "./Caller.ts"
import { Credentials } from "./Credentials.ts"
import { checkLabel } from "./Delegation.ts"
import { EnvDirectory } from "./EnvDirectory.ts"
import { fullPermissions, parsePermissions } from "./Permission.ts"
import { formatToken, hashSecret, isSameHash, mintToken, parseToken } from "./Token.ts"

export interface NewApiKey {
  /** At most 128 characters; empty by default. */
  readonly name?: string
  /** A permission map; the access level Full by default. */
  readonly permissions?: unknown
}

export interface ApiKeyChange extends NewApiKey {
  readonly enabled?: boolean
}

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** Creates a key and returns its token, which cannot be read later. */
    readonly create: (
      envId: EnvId,
      input: NewApiKey
    ) => Effect.Effect<
      { readonly key: ApiKey; readonly token: Redacted.Redacted<string> },
      BadRequest | NotFound | StoreUnavailable
    >
    /**
     * Returns the key of this token, and creates it with the access level Full if it does not exist. Does not change an
     * existing key. `BadRequest` if the token does not match `svc_<uuid>_<secret>`, or if another key has its id.
     */
    readonly ensure: (
      envId: EnvId,
      token: Redacted.Redacted<string>
    ) => Effect.Effect<ApiKey, BadRequest | NotFound | StoreUnavailable>
    /** Returns the identity with which the host acts as this key without its token. `Unauthorized` if it is disabled. */
    readonly identity: (envId: EnvId, id: string) => Effect.Effect<Identity, Unauthorized | NotFound | StoreUnavailable>
    /** Newest first. */
    readonly list: (envId: EnvId, page: PageRequest) => Effect.Effect<Page<ApiKey>, NotFound | StoreUnavailable>
    readonly update: (
      envId: EnvId,
      id: string,
      change: ApiKeyChange
    ) => Effect.Effect<ApiKey, BadRequest | NotFound | StoreUnavailable>
    /** Removes the key. Its token, and those of its sessions and service keys, are invalid from then on. */
    readonly remove: (envId: EnvId, id: string) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/tenants/access/ApiKeys") {
  static readonly layer: Layer.Layer<
    ApiKeys,
    never,
    ApiKeyStore | Credentials | EnvDirectory | Digest.Digest | SecureRandom.SecureRandom
  > = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const credentials = yield* Credentials
      const envs = yield* EnvDirectory
      const freshId = yield* freshIds
      const crypto = yield* Effect.context<Digest.Digest | SecureRandom.SecureRandom>()

      const newKey = Effect.fnUntraced(function* (id: ApiKeyId, envId: EnvId, secret: Redacted.Redacted<string>) {
        const instant = yield* now
        return new ApiKey({
          api_key_id: id,
          env_id: envId,
          name: "",
          enabled: true,
          permissions: fullPermissions,
          secret_hash: yield* Effect.provide(hashSecret(secret), crypto),
          created_at: instant,
          updated_at: instant
        })
      })

      /** Returns a key of this environment. `id` is unchecked input. */
      const find = Effect.fnUntraced(function* (envId: EnvId, id: string) {
        const keyId = toIdOrName(id)
        if (!isApiKeyId(keyId)) return yield* noSuchKey
        const key = yield* store.find(keyId)
        return key.env_id === canonical(envId) ? key : yield* noSuchKey
      })

      return ApiKeys.of({
        create: Effect.fnUntraced(function* (env, input) {
          const checked = yield* checkInput(input)
          const envId = canonical(env)
          yield* envs.require(envId)
          const id = yield* freshId(ApiKeyId)
          const token = yield* Effect.provide(mintToken("api-key", id), crypto)
          const key = new ApiKey({ ...(yield* newKey(id, envId, token.secret)), ...checked })
          yield* store.insert(key)
          yield* credentials.changed("api-key", [id])
          return { key, token: formatToken(token) }
        }),

        ensure: Effect.fnUntraced(function* (env, text) {
          const envId = canonical(env)
          const token = parseToken(Redacted.value(text))
          if (token?.type !== "api-key" || !isApiKeyId(token.id)) return yield* badToken
          yield* envs.require(envId)
          const key = yield* newKey(token.id, envId, token.secret)
          // Keeps an existing key, also one that a concurrent request has stored.
          yield* store.insert(key)
          yield* credentials.changed("api-key", [token.id])
          const stored = yield* store.find(token.id)
          const isSame = stored.env_id === envId && isSameHash(stored.secret_hash, key.secret_hash)
          return isSame ? stored : yield* usedToken
        }),

        identity: Effect.fnUntraced(function* (envId, id) {
          const { enabled, env_id, api_key_id, permissions } = yield* find(envId, id)
          return enabled
            ? { env_id, type: "api-key" as const, id: api_key_id, permissions, metadata: null }
            : yield* new Unauthorized()
        }),

        list: (envId, page) => Effect.andThen(envs.require(envId), store.list(canonical(envId), page)),

        update: Effect.fnUntraced(function* (envId, id, change) {
          const checked = yield* checkInput(change)
          const old = yield* find(envId, id)
          const enabled = change.enabled ?? old.enabled
          const key = new ApiKey({ ...old, ...checked, enabled, updated_at: yield* now })
          yield* Effect.ensuring(store.update(key), credentials.changed("api-key", [key.api_key_id]))
          return key
        }),

        remove: Effect.fnUntraced(function* (envId, id) {
          const key = yield* find(envId, id)
          yield* Effect.ensuring(
            store.remove(key.env_id, key.api_key_id),
            credentials.changed("api-key", [key.api_key_id])
          )
        })
      })
    })
  )
}

const nameLengthMax = 128

/** Returns the fields of the input after checks, without those that are undefined. */
const checkInput = Effect.fnUntraced(function* (input: NewApiKey) {
  return {
    ...(input.name === undefined ? {} : { name: yield* checkLabel("name", input.name, nameLengthMax) }),
    ...(input.permissions === undefined
      ? {}
      : { permissions: yield* Effect.fromResult(parsePermissions(input.permissions)) })
  }
})

/** Returns the id in lowercase. Ids are case-insensitive, so a key must not store another spelling. */
const canonical = (envId: EnvId): EnvId => EnvId.make(envId.toLowerCase())

const isApiKeyId = Schema.is(ApiKeyId)

const noSuchKey = new NotFound({ resource: "API key" })
const badToken = new BadRequest({ reason: "The token of an API key must have the format svc_<uuid>_<secret>" })
const usedToken = new BadRequest({ reason: "The id in the token belongs to another API key" })
