/** Contract of `SessionStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { PermissionMap, SessionStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { sealed, session, sessionId } from "./AccessSamples.ts"
import { type Check, check, suite } from "./Check.ts"
import { apiKeyId, at, envId, everything } from "./Samples.ts"

export const sessionStoreContract = <E>(adapter: string, layer: Layer.Layer<SessionStore, E>) =>
  suite(`SessionStore contract: ${adapter}`, sessionStoreChecks, layer)

const insert = (...sessions: ReadonlyArray<ReturnType<typeof session>>) =>
  Effect.flatMap(SessionStore, (store) =>
    Effect.forEach(sessions, (one) => store.insert(one, one.created_at, 1000), { discard: true })
  )

const listed = (key: number, now: number) =>
  Effect.flatMap(SessionStore, (store) =>
    Effect.map(store.list(apiKeyId(key), at(now), everything), ({ items, total }) => {
      assert.strictEqual(total, items.length)
      return items.map((one) => one.session_id)
    })
  )

const reading: ReadonlyArray<Check<SessionStore>> = [
  check("finds a session as it was stored, in any environment and after its expiry", function* () {
    const store = yield* SessionStore
    const permissions = PermissionMap.make({ "event:order:créé": ["create"], 'project:a/b "c"': ["read"] })
    const stored = session(1, { env_id: envId(2), permissions, metadata: sealed, expires_at: at(5) })
    assert.isTrue(yield* store.insert(stored, at(1), 1))
    assert.deepStrictEqual(yield* store.find(sessionId(1)), stored)
    assert.strictEqual((yield* Effect.flip(store.find(sessionId(2)))).message, "There is no such session")
  }),

  check("lists the sessions of an API key in pages, newest first", function* () {
    const store = yield* SessionStore
    yield* insert(session(2), session(4), session(1), session(3), session(5, { api_key_id: apiKeyId(2) }))
    assert.deepStrictEqual(yield* store.list(apiKeyId(1), at(10), { limit: 2, offset: 1 }), {
      items: [session(3), session(2)],
      total: 4
    })
    assert.deepStrictEqual(yield* listed(2, 10), [sessionId(5)])
    assert.deepStrictEqual(yield* listed(3, 10), [])
  }),

  check("lists a session before the instant of its expiry, and not at it", function* () {
    yield* insert(session(1, { expires_at: at(50) }), session(2, { expires_at: at(60) }))
    assert.deepStrictEqual(yield* listed(1, 49), [sessionId(2), sessionId(1)])
    assert.deepStrictEqual(yield* listed(1, 50), [sessionId(2)])
    assert.deepStrictEqual(yield* listed(1, 60), [])
  })
]

const limiting: ReadonlyArray<Check<SessionStore>> = [
  check("enforces the session limit of each API key separately", function* () {
    const store = yield* SessionStore
    for (const n of [1, 2, 3]) assert.isTrue(yield* store.insert(session(n, { expires_at: at(50) }), at(10), 3))
    assert.isFalse(yield* store.insert(session(4), at(10), 3))
    assert.strictEqual((yield* Effect.flip(store.find(sessionId(4))))._tag, "NotFound")
    assert.isTrue(yield* store.insert(session(5, { api_key_id: apiKeyId(2) }), at(10), 3))
    assert.isFalse(yield* store.insert(session(4), at(49), 3))
    assert.isTrue(yield* store.insert(session(4), at(50), 3))
  }),

  check("accepts no more concurrent sessions than the limit", function* () {
    const store = yield* SessionStore
    const inserts = Array.from({ length: 20 }, (_, n) => store.insert(session(n), at(10), 7))
    const stored = (yield* Effect.all(inserts, { concurrency: "unbounded" })).filter(Boolean)
    assert.strictEqual(stored.length, 7)
    assert.strictEqual((yield* listed(1, 100)).length, 7)
  })
]

const removing: ReadonlyArray<Check<SessionStore>> = [
  check("removes a session, which no longer counts", function* () {
    const store = yield* SessionStore
    yield* insert(session(1), session(2))
    yield* store.remove(apiKeyId(1), sessionId(1), at(10))
    assert.strictEqual((yield* Effect.flip(store.find(sessionId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store.remove(apiKeyId(1), sessionId(1), at(10))))._tag, "NotFound")
    assert.deepStrictEqual(yield* listed(1, 10), [sessionId(2)])
    assert.isTrue(yield* store.insert(session(3), at(10), 2))
  }),

  check("does not remove a session of another API key, or an expired one", function* () {
    const store = yield* SessionStore
    yield* insert(session(1, { expires_at: at(50) }))
    for (const [key, now] of [
      [2, 10],
      [1, 50],
      [1, 51]
    ] as const) {
      const error = yield* Effect.flip(store.remove(apiKeyId(key), sessionId(1), at(now)))
      assert.strictEqual(error.message, "There is no such session")
    }
    assert.deepStrictEqual(yield* listed(1, 49), [sessionId(1)])
  }),

  check("removeAll returns the active sessions of an API key, and keeps those of others", function* () {
    const store = yield* SessionStore
    yield* insert(session(1), session(2, { expires_at: at(50) }), session(3), session(4, { api_key_id: apiKeyId(2) }))
    assert.sameMembers([...(yield* store.removeAll(apiKeyId(1), at(50)))], [sessionId(1), sessionId(3)])
    for (const n of [1, 2, 3]) assert.strictEqual((yield* Effect.flip(store.find(sessionId(n))))._tag, "NotFound")
    assert.deepStrictEqual(yield* listed(2, 50), [sessionId(4)])
    assert.deepStrictEqual(yield* store.removeAll(apiKeyId(1), at(50)), [])
  }),

  check("removeExpired removes at most limit expired sessions of all environments", function* () {
    const store = yield* SessionStore
    for (const n of [1, 2, 3, 4]) {
      yield* insert(session(n, { expires_at: at(40 + n), env_id: envId(n), api_key_id: apiKeyId(n) }))
    }
    assert.strictEqual(yield* store.removeExpired(at(41), 10), 0)
    assert.strictEqual(yield* store.removeExpired(at(44), 2), 2)
    assert.strictEqual(yield* store.removeExpired(at(44), 2), 1)
    assert.strictEqual(yield* store.removeExpired(at(44), 2), 0)
    assert.strictEqual((yield* store.find(sessionId(4))).session_id, sessionId(4))
    assert.strictEqual((yield* Effect.flip(store.find(sessionId(1))))._tag, "NotFound")
  })
]

export const sessionStoreChecks: ReadonlyArray<Check<SessionStore>> = [...reading, ...limiting, ...removing]
