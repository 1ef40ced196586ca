/** Refusals are counted, bounded, and kept in memory until they can be written. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../../../src/foundation/Errors.ts"
import { EnvId } from "../../../src/foundation/Ids.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { AuditStore } from "../../../src/resources/audit/AuditStore.ts"
import { CurrentOrigin } from "../../../src/resources/audit/Origin.ts"
import { Refusals } from "../../../src/resources/audit/Refusals.ts"
import { Caller, type Identity } from "../../../src/tenants/access/Caller.ts"
import { fullPermissions } from "../../../src/tenants/access/Permission.ts"

const env_id = EnvId.make("01890000-0000-7000-8000-000000000001")

const caller = (id: string): Identity => ({
  env_id,
  type: "session",
  id,
  permissions: fullPermissions,
  metadata: null
})

/** Refusals on new stores. The audit log is unavailable while `isUnavailable` returns true. */
const setUp = (isUnavailable: () => boolean = () => false) =>
  Effect.gen(function* () {
    const stores = yield* Layer.build(MemoryStores.layer)
    const store = Context.get(stores, AuditStore)
    const unreliable = AuditStore.of({
      ...store,
      append: (entries) =>
        isUnavailable()
          ? Effect.fail(new StoreUnavailable({ operation: "append", cause: null }))
          : store.append(entries)
    })
    const parts = Layer.mergeAll(
      Layer.succeedContext(Context.add(stores, AuditStore, unreliable)),
      SecureRandom.layerWebCrypto
    )
    const context = yield* Layer.build(Layer.provide(Refusals.layer, parts))
    const entries = Effect.map(store.list({}, { limit: 100, offset: 0 }), ({ items }) => items.toReversed())
    return { refusals: Context.get(context, Refusals), entries, store }
  })

const refuse = (refusals: Refusals["Service"], id: string, address: string | null = null) =>
  refusals
    .permission("session.create")
    .pipe(
      Effect.provideService(Caller, caller(id)),
      Effect.provideService(CurrentOrigin, { id: `request ${id}`, address: () => address, isAdmin: false })
    )

const total = (counts: ReadonlyArray<{ readonly count: number }>): number =>
  counts.reduce((sum, { count }) => sum + count, 0)

const scoped = <A, E>(body: Effect.Effect<A, E, Scope.Scope>) => Effect.scoped(body)

describe("refusals", () => {
  it.effect("of one kind within a second share an entry, with the first request", () =>
    scoped(
      Effect.gen(function* () {
        const { refusals, entries } = yield* setUp()
        for (const address of ["192.0.2.1", "192.0.2.1", "192.0.2.2"]) yield* refuse(refusals, "a", address)
        yield* refuse(refusals, "b", "192.0.2.1")
        assert.deepStrictEqual(yield* entries, [])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(
          (yield* entries).map(({ actor_id, address, count, request_id }) => [actor_id, address, count, request_id]),
          [
            ["a", "192.0.2.1", 2, "request a"],
            ["a", "192.0.2.2", 1, "request a"],
            ["b", "192.0.2.1", 1, "request b"]
          ]
        )
        yield* refuse(refusals, "a", "192.0.2.1")
        yield* TestClock.adjust("1 second")
        assert.deepInclude((yield* entries).at(-1), { env_id, action: "session.create", outcome: "refused", count: 1 })
      })
    )
  )

  it.effect("of any number of callers create at most 101 entries, and all are counted", () =>
    scoped(
      Effect.gen(function* () {
        const { refusals, store } = yield* setUp()
        for (let n = 0; n < 1000; n++) yield* refuse(refusals, `caller ${n}`)
        yield* TestClock.adjust("1 second")
        const page = yield* store.list({}, { limit: 100, offset: 0 })
        const rest = yield* store.list({}, { limit: 100, offset: 100 })
        assert.strictEqual(page.total, 101)
        assert.strictEqual(total([...page.items, ...rest.items]), 1000)
        const [overflow] = (yield* store.list({}, { limit: 1, offset: 0 })).items
        assert.deepInclude(overflow, { actor_type: "unknown", actor_id: null, count: 900 })
      })
    )
  )

  it.effect("are kept during an outage of the log, still bounded, and none is lost", () =>
    scoped(
      Effect.gen(function* () {
        let isUnavailable = true
        const { refusals, entries, store } = yield* setUp(() => isUnavailable)
        for (let second = 0; second < 5; second++) {
          for (let n = 0; n < 50; n++) yield* refuse(refusals, `caller ${second} ${n}`)
          yield* TestClock.adjust("1 second")
        }
        assert.deepStrictEqual(yield* entries, [])
        isUnavailable = false
        yield* TestClock.adjust("1 second")
        const { total: many } = yield* store.list({}, { limit: 1, offset: 0 })
        assert.isAtMost(many, 101)
        const pages = yield* Effect.forEach([0, 100], (offset) => store.list({}, { limit: 100, offset }))
        assert.strictEqual(total(pages.flatMap(({ items }) => items)), 250)
      })
    )
  )

  it.effect("of the last second are written at shutdown", () =>
    Effect.gen(function* () {
      const entries = yield* scoped(
        Effect.gen(function* () {
          const made = yield* setUp()
          yield* refuse(made.refusals, "a")
          return made.entries
        })
      )
      assert.strictEqual((yield* entries).length, 1)
    })
  )

  it.effect("of invented credentials have no actor and share an entry", () =>
    scoped(
      Effect.gen(function* () {
        const { refusals, entries } = yield* setUp()
        for (let n = 10; n < 60; n++) {
          yield* refusals.credential(`svc_01890000-0000-7000-8000-0000000000${n}_guess`)
        }
        yield* refusals.credential("nonsense")
        yield* refusals.credential(null)
        yield* TestClock.adjust("1 second")
        const found = yield* entries
        assert.deepStrictEqual(
          new Set(found.map(({ actor_type, actor_id, env_id: env }) => `${actor_type} ${actor_id} ${env}`)),
          new Set(["unknown null null", "admin null null"])
        )
        assert.isAtMost(found.length, 3)
        assert.strictEqual(total(found), 52)
      })
    )
  )
})
