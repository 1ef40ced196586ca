/** Contract of `ApiKeyStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { ApiKeyId, ApiKeyStore, PermissionMap, ServiceKeyStore, SessionStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { serviceKey, serviceKeyId, session, sessionId } from "./AccessSamples.ts"
import { type Check, check, suite } from "./Check.ts"
import { apiKey, apiKeyId, at, envId, everything, hostileText } from "./Samples.ts"

type Stores = ApiKeyStore | SessionStore | ServiceKeyStore

export const apiKeyStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>) =>
  suite(`ApiKeyStore contract: ${adapter}`, apiKeyStoreChecks, layer)

export const apiKeyStoreChecks: ReadonlyArray<Check<Stores>> = [
  check("finds a key as it was stored, in any environment", function* () {
    const store = yield* ApiKeyStore
    const permissions = PermissionMap.make({ "event:order:créé": ["create", "read"], 'project:a/b "c"': [] })
    const key = apiKey(1, { env_id: envId(2), name: hostileText, enabled: false, permissions, updated_at: at(7) })
    yield* store.insert(key)
    assert.deepStrictEqual(yield* store.find(apiKeyId(1)), key)
    assert.strictEqual((yield* Effect.flip(store.find(apiKeyId(2)))).message, "There is no such API key")
  }),

  check("keeps the first key when an id is stored twice", function* () {
    const store = yield* ApiKeyStore
    yield* store.insert(apiKey(1))
    yield* store.insert(apiKey(1, { name: "second", env_id: envId(2) }))
    assert.deepStrictEqual(yield* store.find(apiKeyId(1)), apiKey(1))
    assert.strictEqual((yield* store.list(envId(2), everything)).total, 0)
  }),

  check("lists the keys of an environment in pages, newest first", function* () {
    const store = yield* ApiKeyStore
    for (const n of [2, 4, 1, 3]) yield* store.insert(apiKey(n))
    yield* store.insert(apiKey(5, { env_id: envId(2) }))
    assert.deepStrictEqual(yield* store.list(envId(1), { limit: 2, offset: 1 }), {
      items: [apiKey(3), apiKey(2)],
      total: 4
    })
    assert.deepStrictEqual(yield* store.list(envId(3), everything), { items: [], total: 0 })
  }),

  check("lists a key with a supplied id by its creation time, not by its id", function* () {
    const store = yield* ApiKeyStore
    const brought = ApiKeyId.make("ffffffff-ffff-4fff-8fff-ffffffffffff")
    yield* store.insert(apiKey(1, { api_key_id: brought, created_at: at(10) }))
    yield* store.insert(apiKey(2, { created_at: at(20) }))
    const { items } = yield* store.list(envId(1), everything)
    assert.deepStrictEqual(
      items.map((key) => key.api_key_id),
      [apiKeyId(2), brought]
    )
  }),

  check("update replaces only name, enabled, permissions and updated_at", function* () {
    const store = yield* ApiKeyStore
    yield* store.insert(apiKey(1))
    yield* store.insert(apiKey(2))
    const permissions = PermissionMap.make({ "run:*": ["read"] })
    const changed = { name: "New", enabled: false, permissions, updated_at: at(30) }
    yield* store.update(apiKey(1, { ...changed, secret_hash: "1".repeat(64), created_at: at(99) }))
    assert.deepStrictEqual(yield* store.find(apiKeyId(1)), apiKey(1, changed))
    assert.deepStrictEqual(yield* store.find(apiKeyId(2)), apiKey(2))
  }),

  check("neither updates nor removes a key of another environment", function* () {
    const store = yield* ApiKeyStore
    yield* store.insert(apiKey(1))
    const foreign = apiKey(1, { env_id: envId(2), name: "stolen" })
    assert.strictEqual((yield* Effect.flip(store.update(foreign)))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.remove(envId(2), apiKeyId(1))))._tag, "NotFound")
    assert.deepStrictEqual(yield* store.find(apiKeyId(1)), apiKey(1))
  }),

  check("removes a key, which then cannot be removed or updated again", function* () {
    const store = yield* ApiKeyStore
    yield* store.insert(apiKey(1))
    yield* store.insert(apiKey(2))
    yield* store.remove(envId(1), apiKeyId(1))
    assert.strictEqual((yield* Effect.flip(store.find(apiKeyId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.remove(envId(1), apiKeyId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.update(apiKey(1))))._tag, "NotFound")
    assert.deepStrictEqual(yield* store.list(envId(1), everything), { items: [apiKey(2)], total: 1 })
  }),

  check("removes the sessions and service keys of a removed key, and no others", function* () {
    const store = yield* ApiKeyStore
    const sessions = yield* SessionStore
    const serviceKeys = yield* ServiceKeyStore
    for (const n of [1, 2]) {
      yield* store.insert(apiKey(n))
      yield* sessions.insert(session(n, { api_key_id: apiKeyId(n) }), at(1), 10)
      yield* serviceKeys.insert(serviceKey(n, { api_key_id: apiKeyId(n) }))
    }
    yield* Effect.flip(store.remove(envId(2), apiKeyId(1)))
    assert.strictEqual((yield* sessions.find(sessionId(1))).session_id, sessionId(1))
    assert.strictEqual((yield* serviceKeys.find(serviceKeyId(1))).service_key_id, serviceKeyId(1))
    yield* store.remove(envId(1), apiKeyId(1))
    assert.strictEqual((yield* Effect.flip(sessions.find(sessionId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(serviceKeys.find(serviceKeyId(1))))._tag, "NotFound")
    assert.strictEqual((yield* sessions.find(sessionId(2))).session_id, sessionId(2))
    assert.strictEqual((yield* serviceKeys.find(serviceKeyId(2))).service_key_id, serviceKeyId(2))
  })
]
