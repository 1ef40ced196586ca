/** An action and its entry in the audit log are one transaction. */
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { ApiKeyStore, AuditEntry, AuditId, AuditStore, JsonText, TenantStore } from "@weft/core"
import { stores } from "@weft/sqlite"
import { Effect, Exit } from "effect"

const { apiKey, apiKeyId, at, everything, org } = Samples

const entry = new AuditEntry({
  audit_id: AuditId.make("01976a2b-00d0-7000-8000-000000000001"),
  env_id: null,
  action: "api_key.create",
  outcome: "done",
  count: 1,
  actor_type: "host",
  actor_id: null,
  actor_api_key_id: null,
  object_id: null,
  object_name: null,
  details: JsonText.make("{}"),
  request_id: null,
  address: null,
  created_at: at(1)
})

describe("a change whose entry cannot be stored", () => {
  it.effect("is undone, whether it is a transaction of its own or not", () =>
    Effect.gen(function* () {
      const audit = yield* AuditStore
      const keys = yield* ApiKeyStore
      const tenants = yield* TenantStore
      // The id is taken: a fault of ours, which stands for any that the database may have at this point.
      yield* audit.append([entry])
      for (const change of [keys.insert(apiKey(1)), tenants.insertOrg(org(1))]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(audit.within(change, () => entry))))
      }
      assert.strictEqual((yield* Effect.flip(keys.find(apiKeyId(1))))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(tenants.getOrg(org(1).slug)))._tag, "NotFound")
      assert.deepStrictEqual(yield* audit.list({}, everything), { items: [entry], total: 1 })
      // The connection is as good as before.
      yield* keys.insert(apiKey(2))
      assert.strictEqual((yield* keys.find(apiKeyId(2))).name, apiKey(2).name)
    }).pipe(Effect.provide(stores({ file: ":memory:" })))
  )
})
