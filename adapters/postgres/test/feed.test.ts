/** The contract of cluster buses over a database that can be disconnected, and the load that a node causes. */
import { assert, describe, it } from "@effect/vitest"
import { BusNetwork, clusterBusContract } from "@weft/contract"
import { ClusterBus } from "@weft/core/adapter"
import { cluster } from "@weft/postgres"
import { administrator } from "@weft/tooling/databases"
import { Context, Effect, Exit, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { freshDatabase } from "./Fresh.ts"

/** Statements that reject new connections and terminate existing ones. */
const disconnect = (database: string) => [
  `ALTER DATABASE ${database} ALLOW_CONNECTIONS false`,
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`
]

const net = Layer.effect(
  BusNetwork,
  Effect.gen(function* () {
    const url = yield* freshDatabase
    const database = new URL(url).pathname.slice(1)
    const sql = yield* administrator
    const execute = (statements: ReadonlyArray<string>) =>
      Effect.orDie(
        Effect.forEach(statements, (statement): Effect.Effect<unknown, SqlError.SqlError> => sql.unsafe(statement))
      )
    const node = (schema: string) =>
      Effect.map(Layer.build(Layer.fresh(cluster({ url, schema }))), (context) => Context.get(context, ClusterBus))
    return {
      node: node("weft"),
      otherSystem: node("other"),
      cut: Effect.asVoid(execute(disconnect(database))),
      restore: Effect.asVoid(execute([`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`]))
    }
  })
)

clusterBusContract("PostgreSQL", net)

describe("the cluster bus of PostgreSQL", () => {
  it.live("fails to open a missing database, with a reason that has no password", () =>
    Effect.gen(function* () {
      const url = new URL(yield* freshDatabase)
      url.pathname = "/absent"
      const exit = yield* Effect.exit(Layer.build(cluster({ url: url.href })))
      assert.isTrue(Exit.isFailure(exit))
      const text = JSON.stringify(exit)
      assert.include(text, "absent")
      assert.notInclude(text, url.password)
    }).pipe(Effect.scoped)
  )

  it.live("has one connection per node, and sends no statements while idle", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const sql = yield* administrator
      const database = new URL(url).pathname.slice(1)
      yield* Layer.build(cluster({ url }))
      yield* Effect.sleep("500 millis")
      const look = sql.unsafe<{ query_start: string }>(
        `SELECT query_start::text FROM pg_stat_activity WHERE datname = '${database}'`
      )
      const before = yield* look
      assert.lengthOf(before, 1)
      yield* Effect.sleep("3 seconds")
      assert.deepStrictEqual(yield* look, before)
    }).pipe(Effect.scoped)
  )
})
