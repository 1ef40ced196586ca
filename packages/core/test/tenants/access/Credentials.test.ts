import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, PubSub, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeyId, EnvId } from "../../../src/foundation/Ids.ts"
import { firstPage } from "../../../src/foundation/Page.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { ClusterBus } from "../../../src/platform/cluster/ClusterBus.ts"
import { ApiKeyStore } from "../../../src/tenants/access/ApiKeyStore.ts"
import { ApiKeys } from "../../../src/tenants/access/ApiKeys.ts"
import { Credentials } from "../../../src/tenants/access/Credentials.ts"
import { crypto, failure, newEnv, services } from "../../Services.ts"

const unknownId = "01890000-0000-7000-8000-000000000001"

/** Another node that shares the stores and, unless the bus is cut, the messages. */
const otherNode = (isFeedCut: boolean) => {
  const credentials = Layer.fresh(Credentials.layer)
  return Layer.build(
    (isFeedCut ? Layer.provide(credentials, MemoryStores.cluster) : credentials).pipe(Layer.provide(crypto))
  ).pipe(Effect.map((context) => Effect.provide(Credentials, context)))
}

const newKey = Effect.gen(function* () {
  const env = yield* newEnv("acme")
  const keys = yield* ApiKeys
  const { key, token } = yield* keys.create(env.env_id, {})
  return { env, keys, key, token: Redacted.value(token) }
})

/** Lets the fibers that subscribe to the bus run. */
const settle = Effect.yieldNow.pipe(Effect.repeat({ times: 10 }))

const run = <A, E>(body: Effect.Effect<A, E, Layer.Success<ReturnType<typeof services>> | Scope.Scope>) =>
  Effect.scoped(body).pipe(Effect.provide(services()))

describe("Credentials", () => {
  it.effect("returns the identity of a token", () =>
    run(
      Effect.gen(function* () {
        const { env, key, token } = yield* newKey
        const identity = yield* (yield* Credentials).authenticate(token)
        assert.deepStrictEqual<unknown>(identity, {
          env_id: env.env_id,
          type: "api-key",
          id: key.api_key_id,
          permissions: { "*:*": ["*"] },
          metadata: null
        })
      })
    )
  )

  it.effect("rejects all invalid tokens with the same error", () =>
    run(
      Effect.gen(function* () {
        const { key, token } = yield* newKey
        const credentials = yield* Credentials
        const wrong = [
          "",
          "svc_",
          `${token}x`,
          token.slice(0, -1),
          token.replace(key.api_key_id, unknownId),
          token.replace("svc_", "s_"),
          token.replace("svc_", ""),
          `svc_${key.api_key_id}_${key.secret_hash}`
        ]
        for (const text of wrong) {
          const error = yield* Effect.flip(credentials.authenticate(text))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["Unauthorized", "The credential is missing or not valid"]
          )
        }
        yield* credentials.authenticate(token)
        for (const text of wrong) assert.strictEqual(yield* failure(credentials.authenticate(text)), "Unauthorized")
      })
    )
  )

  it.effect("rejects a disabled, narrowed or removed key at once on its node", () =>
    run(
      Effect.gen(function* () {
        const { env, keys, key, token } = yield* newKey
        const { authenticate } = yield* Credentials
        yield* authenticate(token)
        yield* keys.update(env.env_id, key.api_key_id, { enabled: false })
        assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized")
        yield* keys.update(env.env_id, key.api_key_id, { enabled: true, permissions: { "event:*": ["read"] } })
        assert.deepStrictEqual<unknown>((yield* authenticate(token)).permissions, { "event:*": ["read"] })
        yield* keys.remove(env.env_id, key.api_key_id)
        assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized")
      })
    )
  )

  it.effect("rejects a revoked key on other nodes when they receive the message", () =>
    run(
      Effect.gen(function* () {
        const { env, keys, key, token } = yield* newKey
        const { authenticate } = yield* yield* otherNode(false)
        yield* authenticate(token)
        yield* keys.update(env.env_id, key.api_key_id, { enabled: false })
        yield* settle
        assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized")
      })
    )
  )

  it.effect("rejects a revoked key within a second on nodes without the message", () =>
    run(
      Effect.gen(function* () {
        const { env, keys, key, token } = yield* newKey
        const { authenticate } = yield* yield* otherNode(true)
        yield* authenticate(token)
        yield* keys.remove(env.env_id, key.api_key_id)
        yield* settle
        yield* TestClock.adjust(1000)
        assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized")
      })
    )
  )

  it.effect("does not accept the token of a removed key for another key with the same id", () =>
    run(
      Effect.gen(function* () {
        const { env, keys, key, token } = yield* newKey
        const { authenticate } = yield* Credentials
        yield* authenticate(token)
        yield* keys.remove(env.env_id, key.api_key_id)
        const other = `svc_${key.api_key_id}_other`
        yield* keys.ensure(env.env_id, Redacted.make(other))
        assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized")
        assert.strictEqual((yield* authenticate(other)).id, key.api_key_id)
      })
    )
  )
})

describe("Credentials and the key store", () => {
  /** Counts the look-ups of keys. */
  const counted = Effect.gen(function* () {
    const store = yield* ApiKeyStore
    let finds = 0
    const layer = Layer.succeed(ApiKeyStore, {
      ...store,
      find: (id) => {
        finds++
        return store.find(id)
      }
    })
    const context = yield* Layer.build(Layer.fresh(Credentials.layer).pipe(Layer.provide([layer, crypto])))
    return { credentials: yield* Effect.provide(Credentials, context), count: () => finds }
  })

  it.effect("queries a key once for many concurrent requests", () =>
    run(
      Effect.gen(function* () {
        const { token } = yield* newKey
        const { credentials, count } = yield* counted
        yield* Effect.replicateEffect(credentials.authenticate(token), 50, { concurrency: 50 })
        yield* Effect.replicateEffect(credentials.authenticate(token), 50)
        assert.strictEqual(count(), 1)
      })
    )
  )

  it.effect("queries an unknown key once per second", () =>
    run(
      Effect.gen(function* () {
        yield* newKey
        const { credentials, count } = yield* counted
        const attempt = Effect.flip(credentials.authenticate(`svc_${unknownId}_x`))
        yield* Effect.replicateEffect(attempt, 10)
        assert.strictEqual(count(), 1)
        yield* TestClock.adjust(1000)
        yield* attempt
        assert.strictEqual(count(), 2)
      })
    )
  )

  it.effect("accepts a new key at once, even if its id was queried before", () =>
    run(
      Effect.gen(function* () {
        const env = yield* newEnv("acme")
        const { authenticate } = yield* Credentials
        const token = `svc_${unknownId}_abc`
        assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized")
        yield* (yield* ApiKeys).ensure(env.env_id, Redacted.make(token))
        assert.strictEqual((yield* authenticate(token)).id, unknownId)
      })
    )
  )

  it.effect("keeps cached keys despite many invented ones", () =>
    run(
      Effect.gen(function* () {
        const { token } = yield* newKey
        const { credentials, count } = yield* counted
        yield* credentials.authenticate(token)
        for (let n = 0; n < 20_000; n++) {
          const id = `01890000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`
          yield* Effect.flip(credentials.authenticate(`svc_${id}_x`))
        }
        yield* credentials.authenticate(token)
        assert.strictEqual(count(), 20_001)
      })
    )
  )
})

describe("ApiKeys", () => {
  it.effect("returns the token once and stores only a hash", () =>
    run(
      Effect.gen(function* () {
        const { env, keys, key, token } = yield* newKey
        const secret = token.slice(`svc_${key.api_key_id}_`.length)
        const page = yield* keys.list(env.env_id, firstPage)
        assert.strictEqual(page.total, 1)
        assert.notInclude(JSON.stringify(page), secret)
      })
    )
  )

  it.effect("rejects invalid input and changes nothing", () =>
    run(
      Effect.gen(function* () {
        const { env, keys, key, token } = yield* newKey
        const bad = [{ name: "x".repeat(129) }, { permissions: { event: ["read"] } }, { permissions: null }]
        for (const input of bad) {
          assert.strictEqual(yield* failure(keys.create(env.env_id, input)), "BadRequest")
          assert.strictEqual(yield* failure(keys.update(env.env_id, key.api_key_id, input)), "BadRequest")
        }
        assert.strictEqual((yield* keys.list(env.env_id, firstPage)).total, 1)
        yield* (yield* Credentials).authenticate(token)
      })
    )
  )

  it.effect("does not change fields that an update omits", () =>
    run(
      Effect.gen(function* () {
        const { env, keys } = yield* newKey
        const { key } = yield* keys.create(env.env_id, { name: "ci", permissions: { "ctx:*": ["read"] } })
        yield* TestClock.adjust(5)
        const changed = yield* keys.update(env.env_id, key.api_key_id.toUpperCase(), { enabled: false })
        assert.deepStrictEqual<unknown>(
          [changed.name, changed.enabled, changed.permissions, changed.updated_at - key.updated_at],
          ["ci", false, { "context:*": ["read"] }, 5]
        )
      })
    )
  )

  it.effect("does not find keys of other environments, or environments that do not exist", () =>
    run(
      Effect.gen(function* () {
        const { keys, key, token } = yield* newKey
        const other = yield* newEnv("other")
        assert.strictEqual(yield* failure(keys.update(other.env_id, key.api_key_id, { enabled: false })), "NotFound")
        assert.strictEqual(yield* failure(keys.remove(other.env_id, key.api_key_id)), "NotFound")
        assert.strictEqual(yield* failure(keys.remove(key.env_id, "nonsense")), "NotFound")
        const nowhere = EnvId.make(unknownId)
        assert.strictEqual(yield* failure(keys.create(nowhere, {})), "NotFound")
        assert.strictEqual(yield* failure(keys.list(nowhere, firstPage)), "NotFound")
        assert.strictEqual(yield* failure(keys.ensure(nowhere, Redacted.make(`svc_${unknownId}_x`))), "NotFound")
        yield* (yield* Credentials).authenticate(token)
      })
    )
  )

  it.effect("accepts the id of an environment in any spelling", () =>
    run(
      Effect.gen(function* () {
        const env = yield* newEnv("acme")
        const keys = yield* ApiKeys
        const shouted = EnvId.make(env.env_id.toUpperCase())
        const { key, token } = yield* keys.create(shouted, {})
        const ensured = yield* keys.ensure(shouted, Redacted.make(`svc_${unknownId}_x`))
        assert.deepStrictEqual([key.env_id, ensured.env_id], [env.env_id, env.env_id])
        assert.strictEqual((yield* (yield* Credentials).authenticate(Redacted.value(token))).env_id, env.env_id)
        assert.strictEqual((yield* keys.list(shouted, firstPage)).total, 2)
        yield* keys.update(shouted, key.api_key_id, { name: "x" })
        yield* keys.remove(shouted, key.api_key_id)
        assert.strictEqual((yield* keys.list(env.env_id, firstPage)).total, 1)
      })
    )
  )

  it.effect("ensures the key of exactly one token", () =>
    run(
      Effect.gen(function* () {
        const { env, keys } = yield* newKey
        const token = Redacted.make(`svc_${unknownId}_my_secret`)
        const made = yield* keys.ensure(env.env_id, token)
        assert.strictEqual(made.api_key_id, ApiKeyId.make(unknownId))
        yield* keys.update(env.env_id, made.api_key_id, { name: "mine" })
        assert.strictEqual((yield* keys.ensure(env.env_id, token)).name, "mine")
        const bad = [`svc_${unknownId}_other`, "nonsense", `s_${unknownId}_my_secret`]
        for (const text of bad) {
          const error = yield* Effect.flip(keys.ensure(env.env_id, Redacted.make(text)))
          assert.strictEqual(error._tag, "BadRequest")
          assert.notInclude(error.message, text)
        }
        assert.strictEqual((yield* keys.list(env.env_id, firstPage)).total, 2)
      })
    )
  )

  it.effect("notifies the other nodes of every change", () =>
    run(
      Effect.gen(function* () {
        const bus = yield* ClusterBus
        const messages = yield* bus.control
        const { env, keys, key } = yield* newKey
        yield* keys.update(env.env_id, key.api_key_id, { name: "x" })
        yield* keys.remove(env.env_id, key.api_key_id)
        const received = (yield* PubSub.takeAll(messages)).filter((message) => message.type === "credential:changed")
        assert.deepStrictEqual(
          received.map((message) => `${message.credential} ${message.id}`),
          Array.from({ length: 3 }, () => `api-key ${key.api_key_id}`)
        )
      })
    )
  )
})
