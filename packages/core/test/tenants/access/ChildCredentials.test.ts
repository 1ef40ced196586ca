/** Sessions and service keys as credentials, which their API key limits at any time. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, PubSub, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { firstPage } from "../../../src/foundation/Page.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { ClusterBus } from "../../../src/platform/cluster/ClusterBus.ts"
import { Keyring } from "../../../src/platform/encryption/Keyring.ts"
import { ApiKeyStore } from "../../../src/tenants/access/ApiKeyStore.ts"
import { ApiKeys } from "../../../src/tenants/access/ApiKeys.ts"
import { Credentials } from "../../../src/tenants/access/Credentials.ts"
import { ServiceKeyStore } from "../../../src/tenants/access/ServiceKeyStore.ts"
import { ServiceKeys } from "../../../src/tenants/access/ServiceKeys.ts"
import { SessionStore } from "../../../src/tenants/access/SessionStore.ts"
import { Sessions } from "../../../src/tenants/access/Sessions.ts"
import { crypto, failure, newEnv, services } from "../../Services.ts"
import { acting, authenticate, newApiKey, newServiceKey, newSession } from "./CredentialFixtures.ts"

type Services = Layer.Success<ReturnType<typeof services>>

const run = <A, E>(body: Effect.Effect<A, E, Services | Scope.Scope>) =>
  Effect.scoped(body).pipe(Effect.provide(services()))

/** An API key with a session and a service key of it. */
const createFamily = Effect.fnUntraced(function* (own: unknown, given: unknown) {
  const env = yield* newEnv("acme")
  const parent = yield* newApiKey(env.env_id, own)
  const input = { permissions: given, metadata: { customer: "c-17" } }
  // Created with the permissions of the host, so that the parent needs none for credentials.
  const session = yield* parent.as(newSession(input))
  const serviceKey = yield* parent.as(newServiceKey(input))
  const update = (change: { readonly enabled?: boolean; readonly permissions?: unknown }) =>
    ApiKeys.use((keys) => keys.update(env.env_id, parent.key.api_key_id, change))
  return { env, parent, session, serviceKey, children: [session.token, serviceKey.token], update }
})

const full = { "*:*": ["*"] }

/** Lets the fibers that subscribe to the bus run. */
const settle = Effect.yieldNow.pipe(Effect.repeat({ times: 10 }))

describe("a session or service key", () => {
  it.effect("has its own identity, with its metadata", () =>
    run(
      Effect.gen(function* () {
        const { env, parent, session, serviceKey } = yield* createFamily(full, { "event:*": ["read"] })
        const common = {
          env_id: env.env_id,
          parent: parent.key.api_key_id,
          permissions: { "event:*": ["read"] },
          metadata: { customer: "c-17" }
        }
        assert.deepStrictEqual<unknown>(yield* authenticate(session.token), {
          ...common,
          type: "session",
          id: session.id
        })
        assert.deepStrictEqual<unknown>(yield* authenticate(serviceKey.token), {
          ...common,
          type: "service-key",
          id: serviceKey.id
        })
        assert.match(session.token, new RegExp(`^s_${session.id}_[A-Za-z0-9_-]{43}$`))
        assert.match(serviceKey.token, new RegExp(`^${serviceKey.id}_[A-Za-z0-9_-]{43}$`))
      })
    )
  )

  it.effect("is rejected with any other secret, prefix or id", () =>
    run(
      Effect.gen(function* () {
        const { parent, session, serviceKey } = yield* createFamily(full, {})
        const secret = session.token.slice(`s_${session.id}_`.length)
        const wrong = [
          `s_${session.id}_${secret}x`,
          `s_${session.id}_${secret.slice(1)}`,
          `${session.id}_${secret}`,
          `svc_${session.id}_${secret}`,
          `s_${serviceKey.id}_${secret}`,
          `s_${serviceKey.token}`,
          `svc_${serviceKey.token}`,
          `s_${parent.token.slice("svc_".length)}`,
          parent.token.slice("svc_".length)
        ]
        for (const token of wrong) assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized", token)
        for (const token of [parent.token, session.token, serviceKey.token]) yield* authenticate(token)
        for (const token of wrong) assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized", token)
      })
    )
  )

  it.effect("is valid before its expiry, but not at that instant", () =>
    run(
      Effect.gen(function* () {
        const { parent } = yield* createFamily(full, {})
        const input = { permissions: {}, expires_in: 60 }
        const session = yield* parent.as(newSession(input))
        const serviceKey = yield* parent.as(newServiceKey(input))
        yield* TestClock.adjust(59_999)
        for (const { token } of [session, serviceKey]) yield* authenticate(token)
        yield* TestClock.adjust(1)
        for (const { token } of [session, serviceKey]) {
          assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized")
        }
      })
    )
  )

  it.effect("expires after an hour by default as a session, and never by default as a service key", () =>
    run(
      Effect.gen(function* () {
        const { session, serviceKey } = yield* createFamily(full, {})
        yield* TestClock.adjust("59 minutes")
        yield* authenticate(session.token)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* failure(authenticate(session.token)), "Unauthorized")
        yield* TestClock.adjust("36500 days")
        yield* authenticate(serviceKey.token)
      })
    )
  )

  it.effect("is rejected while its API key is disabled, and permanently after the removal of the API key", () =>
    run(
      Effect.gen(function* () {
        const { env, parent, children, update } = yield* createFamily(full, {})
        const each = (expected: string) =>
          Effect.forEach(children, (token) =>
            Effect.map(Effect.result(authenticate(token)), ({ _tag }) => assert.strictEqual(_tag, expected))
          )
        yield* each("Success")
        yield* update({ enabled: false })
        yield* each("Failure")
        yield* update({ enabled: true })
        yield* each("Success")
        yield* ApiKeys.use((keys) => keys.remove(env.env_id, parent.key.api_key_id))
        yield* each("Failure")
        yield* TestClock.adjust("1 minute")
        yield* each("Failure")
      })
    )
  )

  it.effect("loses permissions with its API key at the next request, and regains at most its original ones", () =>
    run(
      Effect.gen(function* () {
        const given = { "event:*": ["create", "read"], "file:a/*": ["read"] }
        const { children, update } = yield* createFamily(full, given)
        const permissions = Effect.forEach(children, (token) =>
          Effect.map(authenticate(token), (identity) => identity.permissions)
        )
        const both = (map: unknown) => [map, map]
        assert.deepStrictEqual<unknown>(yield* permissions, both(given))
        yield* update({ permissions: { "event:order": ["*"], "file:*": ["*"], "run:*": ["read"] } })
        const narrowed = { "event:order": ["create", "read"], "file:a/*": ["read"] }
        assert.deepStrictEqual<unknown>(yield* permissions, both(narrowed))
        yield* update({ permissions: { "*:*": ["read"] } })
        assert.deepStrictEqual<unknown>(yield* permissions, both({ "event:*": ["read"], "file:a/*": ["read"] }))
        yield* update({ permissions: {} })
        assert.deepStrictEqual<unknown>(yield* permissions, both({}))
        yield* update({ permissions: full })
        assert.deepStrictEqual<unknown>(yield* permissions, both(given))
      })
    )
  )

  it.effect("is invalidated on other nodes when it is revoked", () =>
    run(
      Effect.gen(function* () {
        const { parent, session, serviceKey } = yield* createFamily(full, {})
        const messages = yield* (yield* ClusterBus).control
        yield* parent.as(Sessions.use((sessions) => sessions.revoke(session.id)))
        yield* parent.as(ServiceKeys.use((keys) => keys.revokeAll))
        assert.deepStrictEqual(yield* PubSub.takeAll(messages), [
          { type: "credential:changed", credential: "session", id: session.id },
          { type: "credential:changed", credential: "service-key", id: serviceKey.id }
        ])
      })
    )
  )
})

/** Another node that shares the stores and, unless the bus is cut, the messages. Counts its queries of the stores. */
const otherNode = Effect.fnUntraced(function* (isFeedCut: boolean) {
  const queries: Array<string> = []
  const counting = <S extends { readonly find: (id: never) => unknown }>(name: string, store: S): S => ({
    ...store,
    find: (id: never) => {
      queries.push(name)
      return store.find(id)
    }
  })
  const keyring = yield* Keyring
  const counted = Layer.mergeAll(
    Layer.succeed(ApiKeyStore, counting("API key", yield* ApiKeyStore)),
    Layer.succeed(SessionStore, counting("session", yield* SessionStore)),
    Layer.succeed(ServiceKeyStore, counting("service key", yield* ServiceKeyStore)),
    Layer.succeed(Keyring, {
      ...keyring,
      open: (sealed, place) => {
        queries.push("open")
        return keyring.open(sealed, place)
      }
    }),
    isFeedCut ? MemoryStores.cluster : Layer.succeed(ClusterBus, yield* ClusterBus)
  )
  const layer = Layer.fresh(Credentials.layer).pipe(Layer.provide(Layer.provideMerge(counted, crypto)))
  const { authenticate } = Context.get(yield* Layer.build(layer), Credentials)
  return { authenticate, queries }
})

describe("other nodes", () => {
  it.effect("query a credential and its API key once, and decrypt its metadata once, while the cache is fresh", () =>
    run(
      Effect.gen(function* () {
        const { session, serviceKey, parent } = yield* createFamily(full, {})
        const node = yield* otherNode(false)
        yield* Effect.replicateEffect(node.authenticate(session.token), 50, { concurrency: 50 })
        yield* Effect.replicateEffect(node.authenticate(session.token), 50)
        assert.deepStrictEqual(node.queries.toSorted(), ["API key", "open", "session"])
        node.queries.length = 0
        for (const token of [serviceKey.token, parent.token, session.token, serviceKey.token]) {
          yield* node.authenticate(token)
        }
        assert.deepStrictEqual(node.queries.toSorted(), ["open", "service key"])
      })
    )
  )

  it.effect("reject a revoked credential, or one whose API key changed, when they receive the message", () =>
    run(
      Effect.gen(function* () {
        const { parent, session, serviceKey, update } = yield* createFamily(full, { "event:*": ["read"] })
        const node = yield* otherNode(false)
        for (const { token } of [session, serviceKey]) yield* node.authenticate(token)
        yield* parent.as(Sessions.use((sessions) => sessions.revoke(session.id)))
        yield* settle
        assert.strictEqual(yield* failure(node.authenticate(session.token)), "Unauthorized")
        yield* update({ permissions: { "run:*": ["read"] } })
        yield* settle
        assert.deepStrictEqual<unknown>((yield* node.authenticate(serviceKey.token)).permissions, {})
        yield* update({ enabled: false })
        yield* settle
        assert.strictEqual(yield* failure(node.authenticate(serviceKey.token)), "Unauthorized")
      })
    )
  )

  it.effect("reject it within a second without the message", () =>
    run(
      Effect.gen(function* () {
        const { env, parent, session, serviceKey } = yield* createFamily(full, {})
        const node = yield* otherNode(true)
        for (const { token } of [session, serviceKey]) yield* node.authenticate(token)
        yield* parent.as(ServiceKeys.use((keys) => keys.revoke(serviceKey.id)))
        yield* ApiKeys.use((keys) => keys.remove(env.env_id, parent.key.api_key_id))
        yield* settle
        yield* TestClock.adjust(1000)
        for (const { token } of [session, serviceKey]) {
          assert.strictEqual(yield* failure(node.authenticate(token)), "Unauthorized")
        }
      })
    )
  )
})

describe("sessions", () => {
  it.effect("are limited to 1000 active ones per API key", () =>
    run(
      Effect.gen(function* () {
        const env = yield* newEnv("acme")
        const { as } = yield* newApiKey(env.env_id)
        const make = (expires_in: number) => newSession({ permissions: {}, expires_in })
        yield* as(make(10))
        const last = yield* as(Effect.replicateEffect(make(20), 999))
        const error = yield* Effect.flip(as(make(20)))
        assert.strictEqual(error._tag, "SessionLimitExceeded")
        assert.include(error.message, "1000")
        yield* (yield* newApiKey(env.env_id)).as(make(20))
        yield* as(Sessions.use((sessions) => sessions.revoke(last[0]?.id ?? "")))
        yield* as(make(20))
        assert.strictEqual(yield* failure(as(make(20))), "SessionLimitExceeded")
        yield* TestClock.adjust("10 seconds")
        yield* as(make(20))
        assert.strictEqual(yield* failure(as(make(20))), "SessionLimitExceeded")
        assert.strictEqual(yield* as(Sessions.use((sessions) => sessions.revokeAll)), 1000)
      })
    )
  )

  it.effect("are neither listed nor revocable after their expiry", () =>
    run(
      Effect.gen(function* () {
        const { as } = yield* newApiKey((yield* newEnv("acme")).env_id)
        const first = yield* as(newSession({ permissions: {}, expires_in: 10 }))
        const second = yield* as(newSession({ permissions: {}, expires_in: 20 }))
        yield* TestClock.adjust("10 seconds")
        const { items, total } = yield* as(Sessions.use((sessions) => sessions.list(firstPage)))
        assert.deepStrictEqual([total, ...items.map((item) => item.session_id)], [1, second.shown.session_id])
        assert.strictEqual(yield* failure(as(Sessions.use((sessions) => sessions.revoke(first.id)))), "NotFound")
        assert.strictEqual(yield* as(Sessions.use((sessions) => sessions.revokeAll)), 1)
      })
    )
  )
})

describe("service keys", () => {
  it.effect("remain visible with their state after revocation or expiry", () =>
    run(
      Effect.gen(function* () {
        const { as } = yield* newApiKey((yield* newEnv("acme")).env_id)
        const expiring = yield* as(newServiceKey({ permissions: {}, name: "a", expires_in: 10 }))
        const revoked = yield* as(newServiceKey({ permissions: {}, name: "b", description: "of b" }))
        const kept = yield* as(newServiceKey({ permissions: {}, expires_in: null }))
        const revokedAt = kept.shown.created_at
        yield* as(ServiceKeys.use((keys) => keys.revoke(revoked.id)))
        yield* TestClock.adjust("10 seconds")
        const { items, total } = yield* as(ServiceKeys.use((keys) => keys.list(firstPage)))
        assert.strictEqual(total, 3)
        const expected = [
          { ...kept.shown, active: true, expires_at: null, revoked_at: null },
          { ...revoked.shown, active: false, revoked_at: revokedAt, description: "of b" },
          { ...expiring.shown, active: false, revoked_at: null }
        ]
        assert.deepStrictEqual<unknown>(items, expected)
        for (const one of expected) {
          assert.deepStrictEqual<unknown>(yield* as(ServiceKeys.use((keys) => keys.get(one.service_key_id))), one)
        }
        assert.strictEqual(yield* failure(acting(revoked.token)(Effect.void)), "Unauthorized")
        yield* as(ServiceKeys.use((keys) => keys.revoke(expiring.id)))
        assert.strictEqual(yield* as(ServiceKeys.use((keys) => keys.revokeAll)), 1)
      })
    )
  )

  it.effect("have a name of at most 128 characters and a description of at most 1024", () =>
    run(
      Effect.gen(function* () {
        const { as } = yield* newApiKey((yield* newEnv("acme")).env_id)
        const make = (name: string, description: string) => as(newServiceKey({ permissions: {}, name, description }))
        const { shown } = yield* make("n".repeat(128), "d".repeat(1024))
        assert.deepStrictEqual([shown.name.length, shown.description.length], [128, 1024])
        for (const [name, description, field] of [
          ["n".repeat(129), "", "name"],
          ["", "d".repeat(1025), "description"],
          ["a\0b", "", "name"]
        ] as const) {
          const error = yield* Effect.flip(make(name, description))
          assert.strictEqual(error._tag, "BadRequest")
          assert.match(error.message, new RegExp(`^${field} must`))
        }
      })
    )
  )
})
