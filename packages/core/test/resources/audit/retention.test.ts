/** Retention of the audit log by age and by number. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AuditId } from "../../../src/foundation/Ids.ts"
import { JsonText } from "../../../src/foundation/JsonText.ts"
import { now } from "../../../src/foundation/time/Timestamp.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { type AuditAction, AuditEntry } from "../../../src/resources/audit/AuditEntry.ts"
import { type AuditConfig, AuditLog } from "../../../src/resources/audit/AuditLog.ts"
import { AuditStore } from "../../../src/resources/audit/AuditStore.ts"

const entry = (n: number, action: AuditAction = "api_key.update") =>
  Effect.map(
    now,
    (created_at) =>
      new AuditEntry({
        audit_id: AuditId.make(`01890000-0000-7000-8000-${String(n).padStart(12, "0")}`),
        env_id: null,
        action,
        outcome: "done",
        count: 1,
        actor_type: "host",
        actor_id: null,
        actor_api_key_id: null,
        object_id: null,
        object_name: `name ${n}`,
        details: JsonText.make("{}"),
        request_id: null,
        address: null,
        created_at
      })
  )

const setUp = (config: AuditConfig) =>
  Effect.map(Layer.build(Layer.provideMerge(AuditLog.layer(config), MemoryStores.layer)), (context) => {
    const log = Context.get(context, AuditLog)
    return {
      store: Context.get(context, AuditStore),
      names: Effect.map(log.listAll({}, { limit: 100, offset: 0 }), ({ items }) =>
        items.map(({ object_name }) => object_name)
      )
    }
  })

describe("the audit log", () => {
  it.effect("keeps the newest of each kind", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { store, names } = yield* setUp({ entries: 3 })
        yield* store.append(yield* Effect.forEach([1, 2, 3, 4, 5], (n) => entry(n)))
        yield* store.append([yield* entry(6, "org.create")])
        assert.strictEqual((yield* names).length, 6)
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(yield* names, ["name 6", "name 5", "name 4", "name 3"])
      })
    )
  )

  it.effect("keeps an entry for the configured days", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { store, names } = yield* setUp({ days: 2 })
        yield* store.append([yield* entry(1)])
        yield* TestClock.adjust("47 hours")
        yield* store.append([yield* entry(2)])
        assert.deepStrictEqual(yield* names, ["name 2", "name 1"])
        yield* TestClock.adjust("70 minutes")
        assert.deepStrictEqual(yield* names, ["name 2"])
      })
    )
  )

  it.effect("is trimmed in several batches", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { store, names } = yield* setUp({ entries: 2 })
        yield* store.append(
          yield* Effect.forEach(
            Array.from({ length: 600 }, (_, n) => n + 1),
            (n) => entry(n)
          )
        )
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(yield* names, ["name 600", "name 599"])
      })
    )
  )
})
