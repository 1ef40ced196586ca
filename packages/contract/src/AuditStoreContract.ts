/** Contract of `AuditStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { ApiKeyStore, type AuditFilter, AuditStore, JsonText, TenantStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { auditEntry, auditId } from "./AuditSamples.ts"
import { type Check, check, suite } from "./Check.ts"
import { apiKey, apiKeyId, at, envId, everything, hostileText, org } from "./Samples.ts"

type Needs = AuditStore | ApiKeyStore | TenantStore

export const auditStoreContract = <E>(adapter: string, layer: Layer.Layer<Needs, E>) =>
  suite(`AuditStore contract: ${adapter}`, auditStoreChecks, layer)

const append = (...entries: ReadonlyArray<ReturnType<typeof auditEntry>>) =>
  AuditStore.use((store) => store.append(entries))

const listIds = (filter: AuditFilter = {}) =>
  AuditStore.use((store) =>
    Effect.map(store.list(filter, everything), ({ items, total }) => {
      assert.strictEqual(total, items.length)
      return items.map((entry) => entry.audit_id)
    })
  )

const ids = (...numbers: ReadonlyArray<number>) => numbers.map(auditId)

const reading: ReadonlyArray<Check<Needs>> = [
  check("returns an entry as it was stored, with and without optional fields", function* () {
    const store = yield* AuditStore
    const full = auditEntry(1, {
      action: "context.update",
      outcome: "refused",
      count: 7,
      actor_type: "service-key",
      actor_api_key_id: apiKeyId(2),
      object_id: hostileText,
      object_name: hostileText,
      details: JsonText.make(JSON.stringify({ text: hostileText })),
      request_id: "01976a2b-00d1-7000-8000-000000000000",
      address: "2001:db8::1"
    })
    const bare = auditEntry(2, { env_id: null, actor_type: "host", actor_id: null })
    yield* append(full, bare)
    assert.deepStrictEqual(yield* store.list({}, everything), { items: [bare, full], total: 2 })
  }),

  check("lists entries in pages, newest first", function* () {
    const store = yield* AuditStore
    yield* append(auditEntry(2), auditEntry(4), auditEntry(1), auditEntry(3))
    assert.deepStrictEqual(yield* store.list({}, { limit: 2, offset: 1 }), {
      items: [auditEntry(3), auditEntry(2)],
      total: 4
    })
  }),

  check("applies each filter, also all of them together", function* () {
    yield* append(
      auditEntry(1),
      auditEntry(2, { env_id: envId(2) }),
      auditEntry(3, { env_id: null }),
      auditEntry(4, { action: "domain.add" }),
      auditEntry(5, { outcome: "refused" }),
      auditEntry(6, { actor_id: "somebody" }),
      auditEntry(7, { object_id: "something" })
    )
    assert.deepStrictEqual(yield* listIds({ env_id: envId(2) }), ids(2))
    assert.deepStrictEqual(yield* listIds({ env_id: envId(1) }), ids(7, 6, 5, 4, 1))
    assert.deepStrictEqual(yield* listIds({ action: "domain.add" }), ids(4))
    assert.deepStrictEqual(yield* listIds({ outcome: "refused" }), ids(5))
    assert.deepStrictEqual(yield* listIds({ actor_id: "somebody" }), ids(6))
    assert.deepStrictEqual(yield* listIds({ object_id: "something" }), ids(7))
    assert.deepStrictEqual(yield* listIds({ since: at(6) }), ids(7, 6))
    assert.deepStrictEqual(yield* listIds({ env_id: envId(1), outcome: "done", since: at(4) }), ids(7, 6, 4))
    assert.deepStrictEqual(yield* listIds({ env_id: envId(2), action: "domain.add" }), [])
  }),

  check("append accepts an empty list", function* () {
    yield* append()
    assert.deepStrictEqual(yield* listIds(), [])
  })
]

const auditing: ReadonlyArray<Check<Needs>> = [
  check("within stores the change and its entry, and returns the result", function* () {
    const store = yield* AuditStore
    const keys = yield* ApiKeyStore
    const change = Effect.as(keys.insert(apiKey(1)), "the result")
    const result = yield* store.within(change, (text) => auditEntry(1, { object_name: text }))
    assert.strictEqual(result, "the result")
    assert.deepStrictEqual(yield* keys.find(apiKeyId(1)), apiKey(1))
    assert.deepStrictEqual(yield* store.list({}, everything), {
      items: [auditEntry(1, { object_name: "the result" })],
      total: 1
    })
  }),

  check("within stores no entry if the change has none", function* () {
    const store = yield* AuditStore
    const keys = yield* ApiKeyStore
    yield* store.within(keys.insert(apiKey(1)), () => null)
    assert.deepStrictEqual(yield* keys.find(apiKeyId(1)), apiKey(1))
    assert.deepStrictEqual(yield* listIds(), [])
  }),

  check("within passes on the error of a failed change, and stores no entry", function* () {
    const store = yield* AuditStore
    const keys = yield* ApiKeyStore
    const tenants = yield* TenantStore
    const missing = yield* Effect.flip(store.within(keys.update(apiKey(1)), () => auditEntry(1)))
    assert.strictEqual(missing._tag, "NotFound")
    yield* tenants.insertOrg(org(1))
    const taken = yield* Effect.flip(
      store.within(tenants.insertOrg(org(2, { slug: org(1).slug })), () => auditEntry(2))
    )
    assert.strictEqual(taken._tag, "Taken")
    assert.deepStrictEqual(yield* listIds(), [])
  }),

  check("within stores an entry for each of many concurrent changes", function* () {
    const store = yield* AuditStore
    const keys = yield* ApiKeyStore
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1)
    yield* Effect.forEach(numbers, (n) => store.within(keys.insert(apiKey(n)), () => auditEntry(n)), {
      concurrency: "unbounded",
      discard: true
    })
    assert.deepStrictEqual(yield* listIds(), ids(...numbers.toReversed()))
    for (const n of numbers) assert.deepStrictEqual(yield* keys.find(apiKeyId(n)), apiKey(n))
  })
]

const trimming: ReadonlyArray<Check<Needs>> = [
  check("trim removes older entries, and keeps those of the instant itself", function* () {
    const store = yield* AuditStore
    yield* append(auditEntry(1), auditEntry(2), auditEntry(3))
    assert.strictEqual(yield* store.trim({ before: at(3), keep: 100, limit: 100 }), 2)
    assert.deepStrictEqual(yield* listIds(), ids(3))
  }),

  check("trim keeps the newest entries of each environment, action and outcome", function* () {
    const store = yield* AuditStore
    yield* append(
      ...[1, 2, 3].map((n) => auditEntry(n)),
      ...[4, 5, 6].map((n) => auditEntry(n, { outcome: "refused" })),
      ...[7, 8, 9].map((n) => auditEntry(n, { env_id: envId(2) })),
      ...[10, 11, 12].map((n) => auditEntry(n, { env_id: null })),
      auditEntry(13, { action: "org.create", env_id: null })
    )
    assert.strictEqual(yield* store.trim({ before: at(0), keep: 2, limit: 100 }), 4)
    assert.deepStrictEqual(yield* listIds(), ids(13, 12, 11, 9, 8, 6, 5, 3, 2))
    assert.strictEqual(yield* store.trim({ before: at(0), keep: 2, limit: 100 }), 0)
  }),

  check("trim removes at most limit entries, by age and by number together", function* () {
    const store = yield* AuditStore
    yield* append(...[1, 2, 3, 4, 5, 6].map((n) => auditEntry(n)))
    assert.strictEqual(yield* store.trim({ before: at(2), keep: 2, limit: 3 }), 3)
    assert.strictEqual(yield* store.trim({ before: at(2), keep: 2, limit: 3 }), 1)
    assert.deepStrictEqual(yield* listIds(), ids(6, 5))
  })
]

export const auditStoreChecks: ReadonlyArray<Check<Needs>> = [...reading, ...auditing, ...trimming]
