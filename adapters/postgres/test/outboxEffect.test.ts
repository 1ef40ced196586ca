/** Publishing in a transaction of a host that uses Effect, on its own `SqlClient`. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { HostTransactions } from "@weft/core"
import { publishIn } from "@weft/postgres"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { countRows, findRuns, nothing, type Scene, scene } from "./outbox/Scene.ts"

const order = { type: "order:created", data: { total: 21 } }

/** The host's client with the driver's default types, and Weft's services. */
const host = Effect.fnUntraced(function* ({ url, weft }: Scene) {
  const sql = yield* PgClient.makeClient({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
  const transactions = yield* Effect.promise(() => weft.runtime.runPromise(HostTransactions))
  return { sql, transactions }
})

describe("an event published in the transaction of an SqlClient", () => {
  it.live("is handled when the transaction commits", () =>
    Effect.gen(function* () {
      const place = yield* scene
      const { sql, transactions } = yield* host(place)
      const events = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`INSERT INTO orders VALUES ('a', 21)`
            const once = { ...order, idempotencyKey: "key" }
            const first = yield* publishIn(sql, place.envId, once)
            assert.deepStrictEqual(yield* publishIn(sql, place.envId, once), first)
            const data = { fn: "main/add", args: [1, 2], schedule: "0 3 * * *" }
            yield* publishIn(sql, place.envId, { type: "svc:schedule:new", data })
            const refused = yield* Effect.flip(publishIn(sql, place.envId, { ...once, type: "order:other" }))
            assert.strictEqual(refused._tag, "BadRequest")
            return [first, yield* publishIn(sql, place.envId, order)]
          })
        )
        .pipe(Effect.provideService(HostTransactions, transactions))
      for (const { event_id } of events) {
        assert.lengthOf(yield* Effect.promise(() => findRuns(place, event_id)), 1)
      }
      assert.lengthOf(yield* sql`SELECT FROM orders`, 1)
      assert.deepInclude(yield* Effect.promise(() => countRows(place)), { events: 3, schedules: 1 })
    })
  )

  it.live("leaves no rows after a rollback, and is rejected outside a transaction", () =>
    Effect.gen(function* () {
      const place = yield* scene
      const { sql, transactions } = yield* host(place)
      const publish = Effect.provideService(publishIn(sql, place.envId, order), HostTransactions, transactions)
      const error = yield* Effect.flip(sql.withTransaction(Effect.andThen(publish, Effect.fail("rolled back"))))
      assert.strictEqual(error, "rolled back")
      assert.deepStrictEqual(yield* Effect.promise(() => countRows(place)), nothing)
      const without = yield* Effect.flip(publish)
      assert.strictEqual(without._tag, "TransactionUnusable")
      assert.match(without.message, /none is open/)
    })
  )
})
