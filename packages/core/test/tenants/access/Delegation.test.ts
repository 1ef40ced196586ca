/** Common rules of sessions and service keys: permissions to create them, and their own permissions. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import type {
  BadRequest,
  Forbidden,
  NotFound,
  PermissionEscalation,
  SessionLimitExceeded,
  StoreUnavailable
} from "../../../src/foundation/Errors.ts"
import { ApiKeyId, SessionId } from "../../../src/foundation/Ids.ts"
import { firstPage, type Page } from "../../../src/foundation/Page.ts"
import { Timestamp } from "../../../src/foundation/time/Timestamp.ts"
import { type Caller, hostIdentity } from "../../../src/tenants/access/Caller.ts"
import { ServiceKeyStore } from "../../../src/tenants/access/ServiceKeyStore.ts"
import { ServiceKeys, type ShownServiceKey } from "../../../src/tenants/access/ServiceKeys.ts"
import { SessionStore } from "../../../src/tenants/access/SessionStore.ts"
import { type NewSession, Sessions, type ShownSession } from "../../../src/tenants/access/Sessions.ts"
import { failure, newEnv, services } from "../../Services.ts"
import { asIdentity, authenticate, type Made, newApiKey, newServiceKey, newSession } from "./CredentialFixtures.ts"

type Services = Layer.Success<ReturnType<typeof services>>

const run = <A, E>(body: Effect.Effect<A, E, Services>) => Effect.provide(body, services())

type Refused = Forbidden | BadRequest | PermissionEscalation | SessionLimitExceeded | NotFound | StoreUnavailable
type Operation<A> = Effect.Effect<A, Refused, Caller | Sessions | ServiceKeys>

/** The common operations of sessions and service keys. */
interface Kind {
  readonly make: (
    input: Pick<NewSession, "permissions" | "metadata" | "expires_in">
  ) => Operation<Made<ShownSession | ShownServiceKey>>
  readonly list: Operation<Page<ShownSession | ShownServiceKey>>
  readonly revoke: (id: string) => Operation<void>
  readonly revokeAll: Operation<number>
}

const kinds: Readonly<Record<"session" | "key", Kind>> = {
  session: {
    make: newSession,
    list: Sessions.use((sessions) => sessions.list(firstPage)),
    revoke: (id) => Sessions.use((sessions) => sessions.revoke(id)),
    revokeAll: Sessions.use((sessions) => sessions.revokeAll)
  },
  key: {
    make: newServiceKey,
    list: ServiceKeys.use((keys) => keys.list(firstPage)),
    revoke: (id) => ServiceKeys.use((keys) => keys.revoke(id)),
    revokeAll: ServiceKeys.use((keys) => keys.revokeAll)
  }
}

const nowhere = "01890000-0000-7000-8000-000000000000"

for (const type of ["session", "key"] as const) {
  const { make, list, revoke, revokeAll } = kinds[type]

  describe(type === "key" ? "service keys" : "sessions", () => {
    it.effect("can only be used by API keys, with any permissions of other callers", () =>
      run(
        Effect.gen(function* () {
          const env = yield* newEnv("acme")
          const { as } = yield* newApiKey(env.env_id)
          const { token: session } = yield* as(newSession({ permissions: { "*:*": ["*"] } }))
          const { token: serviceKey, id } = yield* as(newServiceKey({ permissions: { "*:*": ["*"] } }))
          const others = [yield* authenticate(session), yield* authenticate(serviceKey), hostIdentity(env.env_id)]
          for (const other of others) {
            const refusals = Effect.all([
              Effect.flip(make({ permissions: {} })),
              Effect.flip(list),
              Effect.flip(revoke(id)),
              Effect.flip(revokeAll)
            ])
            for (const error of yield* asIdentity(other)(refusals)) {
              assert.strictEqual(error._tag, "Forbidden")
              assert.include(error.message, "only API keys")
            }
          }
          yield* authenticate(session)
          yield* authenticate(serviceKey)
        })
      )
    )

    it.effect("need a permission for each action", () =>
      run(
        Effect.gen(function* () {
          const env = yield* newEnv("acme")
          const tags = Effect.fnUntraced(function* (action: string) {
            const { as } = yield* newApiKey(env.env_id, { [`${type}:*`]: [action] })
            return yield* as(
              Effect.all([
                Effect.map(Effect.result(make({ permissions: {} })), (made) => made._tag),
                Effect.map(Effect.result(list), (listed) => listed._tag),
                failure(revoke(nowhere)),
                Effect.map(Effect.result(revokeAll), (revoked) => revoked._tag)
              ])
            )
          })
          assert.deepStrictEqual(yield* tags("create"), ["Success", "Failure", "Forbidden", "Failure"])
          assert.deepStrictEqual(yield* tags("read"), ["Failure", "Success", "Forbidden", "Failure"])
          assert.deepStrictEqual(yield* tags("delete"), ["Failure", "Failure", "NotFound", "Success"])
        })
      )
    )

    it.effect("never exceed the permissions of the API key that creates them", () =>
      run(
        Effect.gen(function* () {
          const env = yield* newEnv("acme")
          const own = { [`${type}:*`]: ["create"], "event:order:created": ["create", "read"], "file:a/*": ["read"] }
          const { as } = yield* newApiKey(env.env_id, own)
          for (const permissions of [
            {},
            own,
            { "event:order:created": ["*"] },
            { "file:a/b/*": ["read"], "file:a/c": ["read"] }
          ]) {
            assert.deepStrictEqual<unknown>((yield* as(make({ permissions }))).shown.permissions, permissions)
          }
          for (const [permissions, excess] of [
            [{ "*:*": ["*"] }, "*:* create"],
            [{ "event:*": ["read"] }, "event:* read"],
            [{ "event:order:created": ["read"], "run:*": ["read"] }, "run:* read"],
            [{ "file:*": ["read"] }, "file:* read"],
            [{ "file:a/b": ["read", "update"] }, "file:a/b update"],
            [{ "ctx:*": ["read"] }, "context:* read"]
          ] as const) {
            const error = yield* Effect.flip(as(make({ permissions })))
            assert.strictEqual(error._tag === "PermissionEscalation" ? error.permission : error._tag, excess)
          }
        })
      )
    )

    it.effect("are rejected with the messages of the specification, before other checks", () =>
      run(
        Effect.gen(function* () {
          const { as } = yield* newApiKey((yield* newEnv("acme")).env_id, { [`${type}:*`]: ["create"] })
          for (const [permissions, words] of [
            [undefined, "permissions must be an object"],
            [null, "permissions must be an object"],
            [[], "permissions must be an object"],
            [{ event: ["read"] }, "invalid resource"],
            [{ "event:*": [] }, "empty action list"],
            [{ "event:*": ["Read"] }, "invalid action"],
            [{ "mcp:*": ["create"] }, "action not valid for resource"]
          ] as const) {
            const error = yield* Effect.flip(as(make({ permissions, expires_in: 0 })))
            assert.strictEqual(error._tag, "BadRequest")
            assert.include(error.message, words)
          }
          const escalating = { permissions: { "run:*": ["read"] }, expires_in: 0 }
          assert.strictEqual(yield* failure(as(make(escalating))), "PermissionEscalation")
        })
      )
    )

    it.effect("have a lifetime of whole seconds", () =>
      run(
        Effect.gen(function* () {
          const { as } = yield* newApiKey((yield* newEnv("acme")).env_id)
          const max = type === "session" ? 86_400 : 3_153_600_000
          for (const expires_in of [0, -1, 1.5, max + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
            const error = yield* Effect.flip(as(make({ permissions: {}, expires_in })))
            assert.strictEqual(error.message, `expires_in must be an integer from 1 to ${max}`)
          }
          for (const expires_in of [1, max]) {
            const { shown } = yield* as(make({ permissions: {}, expires_in }))
            assert.strictEqual(Number(shown.expires_at) - Number(shown.created_at), expires_in * 1000)
          }
        })
      )
    )

    it.effect("have metadata of up to 64 KiB, which is encrypted at rest and returned to their API key", () =>
      run(
        Effect.gen(function* () {
          const { as } = yield* newApiKey((yield* newEnv("acme")).env_id)
          const values = [{ customer: "æ-17", list: [1, null, { a: true }] }, "text", 0, false, [], null]
          for (const metadata of values) {
            const { shown, token } = yield* as(make({ permissions: {}, metadata }))
            assert.deepStrictEqual<unknown>(JSON.parse(shown.metadata), metadata)
            const { items } = yield* as(list)
            assert.deepStrictEqual<unknown>(JSON.parse(items[0]?.metadata ?? ""), metadata)
            assert.deepStrictEqual<unknown>((yield* authenticate(token)).metadata, metadata)
          }
          assert.strictEqual((yield* as(make({ permissions: {} }))).shown.metadata, "null")
          yield* as(make({ permissions: {}, metadata: "é".repeat(32_767) }))
          const error = yield* Effect.flip(as(make({ permissions: {}, metadata: `${"é".repeat(32_767)}x` })))
          assert.strictEqual(error.message, "metadata must have at most 65536 bytes")
        })
      )
    )

    it.effect("are visible to and revocable by only the API key that created them", () =>
      run(
        Effect.gen(function* () {
          const env = yield* newEnv("acme")
          const { as } = yield* newApiKey(env.env_id)
          const neighbour = yield* newApiKey(env.env_id)
          const stranger = yield* newApiKey((yield* newEnv("other")).env_id)
          const { id, token } = yield* as(make({ permissions: {} }))
          for (const other of [neighbour, stranger]) {
            assert.deepStrictEqual(yield* other.as(list), { items: [], total: 0 })
            assert.strictEqual(yield* failure(other.as(revoke(id))), "NotFound")
            assert.strictEqual(yield* other.as(revokeAll), 0)
          }
          yield* authenticate(token)
          for (const id of [nowhere, "nonsense", ""]) assert.strictEqual(yield* failure(as(revoke(id))), "NotFound")
          yield* as(revoke(id.toUpperCase()))
          assert.strictEqual(yield* failure(as(revoke(id))), "NotFound")
          assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized")
        })
      )
    )

    it.effect("are all revoked together, with their number", () =>
      run(
        Effect.gen(function* () {
          const env = yield* newEnv("acme")
          const { as } = yield* newApiKey(env.env_id)
          const other = yield* newApiKey(env.env_id)
          const made = yield* as(Effect.replicateEffect(make({ permissions: {} }), 5))
          const kept = yield* other.as(make({ permissions: {} }))
          yield* Effect.forEach(made, ({ token }) => authenticate(token))
          yield* as(revoke(made[0]?.id ?? ""))
          assert.strictEqual(yield* as(revokeAll), 4)
          assert.strictEqual(yield* as(revokeAll), 0)
          for (const { token } of made) assert.strictEqual(yield* failure(authenticate(token)), "Unauthorized")
          yield* authenticate(kept.token)
        })
      )
    )
  })
}

describe("the stores of sessions and service keys", () => {
  it.effect("never receive a secret or metadata in plain text", () =>
    run(
      Effect.gen(function* () {
        const { key, as } = yield* newApiKey((yield* newEnv("acme")).env_id)
        const input = { permissions: {}, metadata: { customer: "c-17" } }
        const session = yield* as(newSession(input))
        const serviceKey = yield* as(newServiceKey(input))
        const stored = [
          (yield* SessionStore).find(SessionId.make(session.id)),
          Effect.map((yield* ServiceKeyStore).list(ApiKeyId.make(key.api_key_id), firstPage), ({ items }) => items[0])
        ]
        for (const record of yield* Effect.all(stored)) {
          const text = JSON.stringify(record)
          assert.isAbove(text.length, 200)
          assert.notInclude(text, "c-17")
          for (const { token, id } of [session, serviceKey]) assert.notInclude(text, token.split(`${id}_`)[1] ?? "")
        }
      })
    )
  )

  it.effect(
    "return metadata that cannot be decrypted as null, so that its owner can revoke it, and reject its token",
    () =>
      run(
        Effect.gen(function* () {
          const { as } = yield* newApiKey((yield* newEnv("acme")).env_id)
          const store = yield* SessionStore
          const { id, token } = yield* as(newSession({ permissions: {}, metadata: { admin: true } }))
          const other = yield* as(newSession({ permissions: {}, metadata: { admin: false } }))
          const moved = { ...(yield* store.find(other.id)), metadata: (yield* store.find(id)).metadata }
          yield* store.insert(moved, Timestamp.make(0), 1000)
          assert.strictEqual(yield* failure(authenticate(other.token)), "Unauthorized")
          const { items } = yield* as(kinds.session.list)
          assert.deepStrictEqual(
            items.map((item) => item.metadata),
            ["null", '{"admin":true}']
          )
          yield* authenticate(token)
          yield* as(kinds.session.revoke(other.id))
          assert.strictEqual((yield* as(kinds.session.list)).total, 1)
        })
      )
  )
})
