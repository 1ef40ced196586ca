/** Additional contract of the `AuditStore` of a database with transactions. */
import { assert } from "@effect/vitest"
import { ApiKeyStore, AuditStore, TenantStore } from "@weft/core/adapter"
import { Effect, Exit, type Layer } from "effect"
import { auditEntry } from "./AuditSamples.ts"
import { type Check, check, suite } from "./Check.ts"
import { apiKey, apiKeyId, everything, org } from "./Samples.ts"

type Needs = AuditStore | ApiKeyStore | TenantStore

export const auditTransactionContract = <E>(adapter: string, layer: Layer.Layer<Needs, E>) =>
  suite(`AuditStore contract, transactions: ${adapter}`, checks, layer)

const checks: ReadonlyArray<Check<Needs>> = [
  check("rolls back a change whose entry cannot be stored, also in a nested transaction", function* () {
    const audit = yield* AuditStore
    const keys = yield* ApiKeyStore
    const tenants = yield* TenantStore
    // A duplicate id. It stands for any failure of the database at this point.
    yield* audit.append([auditEntry(1)])
    for (const change of [keys.insert(apiKey(1)), tenants.insertOrg(org(1))]) {
      assert.isTrue(Exit.isFailure(yield* Effect.exit(audit.within(change, () => auditEntry(1)))))
    }
    assert.strictEqual((yield* Effect.flip(keys.find(apiKeyId(1))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(tenants.getOrg(org(1).slug)))._tag, "NotFound")
    assert.deepStrictEqual(yield* audit.list({}, everything), { items: [auditEntry(1)], total: 1 })
    // The connection still works.
    yield* keys.insert(apiKey(2))
    assert.strictEqual((yield* keys.find(apiKeyId(2))).name, apiKey(2).name)
  })
]
