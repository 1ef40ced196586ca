/** Contract of `ServiceKeyStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { PermissionMap, ServiceKeyStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { sealed, serviceKey, serviceKeyId } from "./AccessSamples.ts"
import { type Check, check, suite } from "./Check.ts"
import { apiKeyId, at, envId, everything, hostileText } from "./Samples.ts"

export const serviceKeyStoreContract = <E>(adapter: string, layer: Layer.Layer<ServiceKeyStore, E>) =>
  suite(`ServiceKeyStore contract: ${adapter}`, serviceKeyStoreChecks, layer)

const insert = (...keys: ReadonlyArray<ReturnType<typeof serviceKey>>) =>
  Effect.flatMap(ServiceKeyStore, (store) => Effect.forEach(keys, store.insert, { discard: true }))

export const serviceKeyStoreChecks: ReadonlyArray<Check<ServiceKeyStore>> = [
  check("returns a key as it was stored, with and without an expiry", function* () {
    const store = yield* ServiceKeyStore
    const permissions = PermissionMap.make({ 'webhook:a"b': ["execute"], "file:a/*": ["read", "update"] })
    const stored = serviceKey(1, {
      env_id: envId(2),
      name: hostileText,
      description: hostileText,
      permissions,
      metadata: sealed,
      expires_at: at(5),
      revoked_at: at(3)
    })
    yield* insert(stored, serviceKey(2))
    assert.deepStrictEqual(yield* store.find(serviceKeyId(1)), stored)
    assert.deepStrictEqual(yield* store.get(apiKeyId(1), serviceKeyId(1)), stored)
    assert.deepStrictEqual(yield* store.find(serviceKeyId(2)), serviceKey(2))
    assert.strictEqual((yield* Effect.flip(store.find(serviceKeyId(3)))).message, "There is no such service key")
  }),

  check("hides keys of other API keys", function* () {
    const store = yield* ServiceKeyStore
    yield* insert(serviceKey(1))
    const foreign = store.get(apiKeyId(2), serviceKeyId(1))
    assert.strictEqual((yield* Effect.flip(foreign)).message, "There is no such service key")
    const revoked = store.revoke(apiKeyId(2), serviceKeyId(1), at(10))
    assert.strictEqual((yield* Effect.flip(revoked)).message, "There is no such service key")
    assert.deepStrictEqual(yield* store.find(serviceKeyId(1)), serviceKey(1))
  }),

  check("lists the keys of an API key in pages, newest first, including revoked and expired ones", function* () {
    const store = yield* ServiceKeyStore
    const revoked = serviceKey(2, { revoked_at: at(3) })
    const expired = serviceKey(3, { expires_at: at(4) })
    yield* insert(revoked, serviceKey(4), serviceKey(1), expired, serviceKey(5, { api_key_id: apiKeyId(2) }))
    assert.deepStrictEqual(yield* store.list(apiKeyId(1), { limit: 2, offset: 1 }), {
      items: [expired, revoked],
      total: 4
    })
    assert.deepStrictEqual(yield* store.list(apiKeyId(3), everything), { items: [], total: 0 })
  }),

  check("revoke stores the time once, and changes no other key", function* () {
    const store = yield* ServiceKeyStore
    yield* insert(serviceKey(1, { expires_at: at(5) }), serviceKey(2))
    yield* store.revoke(apiKeyId(1), serviceKeyId(1), at(10))
    const revoked = serviceKey(1, { expires_at: at(5), revoked_at: at(10) })
    assert.deepStrictEqual(yield* store.get(apiKeyId(1), serviceKeyId(1)), revoked)
    const again = store.revoke(apiKeyId(1), serviceKeyId(1), at(11))
    assert.strictEqual((yield* Effect.flip(again)).message, "There is no such service key")
    assert.deepStrictEqual((yield* store.list(apiKeyId(1), everything)).items, [serviceKey(2), revoked])
  }),

  check("revokeAll revokes the active keys of one API key, and returns their ids", function* () {
    const store = yield* ServiceKeyStore
    const before = serviceKey(2, { revoked_at: at(3) })
    const ending = serviceKey(3, { expires_at: at(10) })
    const other = serviceKey(5, { api_key_id: apiKeyId(2) })
    yield* insert(serviceKey(1), before, ending, serviceKey(4, { expires_at: at(11) }), other)
    const ids = yield* store.revokeAll(apiKeyId(1), at(10))
    assert.sameMembers([...ids], [serviceKeyId(1), serviceKeyId(4)])
    assert.deepStrictEqual((yield* store.list(apiKeyId(1), everything)).items, [
      serviceKey(4, { expires_at: at(11), revoked_at: at(10) }),
      ending,
      before,
      serviceKey(1, { revoked_at: at(10) })
    ])
    assert.deepStrictEqual(yield* store.find(serviceKeyId(5)), other)
    assert.deepStrictEqual(yield* store.revokeAll(apiKeyId(1), at(10)), [])
  })
]
