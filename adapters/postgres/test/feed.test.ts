/** The contract of feeds over a database that can be cut off, and what a node asks of it. */
import { assert, describe, it } from "@effect/vitest"
import { FeedNet, feedContract } from "@weft/contract"
import { Feed } from "@weft/core"
import { feed } from "@weft/postgres"
import { administrator } from "@weft/tooling/databases"
import { Context, Effect, Exit, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { freshDatabase } from "./Fresh.ts"

/** Nobody can connect, and who is connected is thrown out. */
const closed = (database: string) => [
  `ALTER DATABASE ${database} ALLOW_CONNECTIONS false`,
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`
]

const net = Layer.effect(
  FeedNet,
  Effect.gen(function* () {
    const url = yield* freshDatabase
    const database = new URL(url).pathname.slice(1)
    const sql = yield* administrator
    const does = (statements: ReadonlyArray<string>) =>
      Effect.orDie(
        Effect.forEach(statements, (statement): Effect.Effect<unknown, SqlError.SqlError> => sql.unsafe(statement))
      )
    const node = (schema: string) =>
      Effect.map(Layer.build(Layer.fresh(feed({ url, schema }))), (context) => Context.get(context, Feed))
    return {
      node: node("weft"),
      stranger: node("other"),
      cut: Effect.asVoid(does(closed(database))),
      mend: Effect.asVoid(does([`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`]))
    }
  })
)

feedContract("PostgreSQL", net)

describe("the feed of a PostgreSQL database", () => {
  it.live("cannot be opened where there is no database, and says why without the password", () =>
    Effect.gen(function* () {
      const url = new URL(yield* freshDatabase)
      url.pathname = "/absent"
      const exit = yield* Effect.exit(Layer.build(feed({ url: url.href })))
      assert.isTrue(Exit.isFailure(exit))
      const said = JSON.stringify(exit)
      assert.include(said, "absent")
      assert.notInclude(said, url.password)
    }).pipe(Effect.scoped)
  )

  it.live("has one connection for each node, and asks nothing while nothing happens", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const sql = yield* administrator
      const database = new URL(url).pathname.slice(1)
      yield* Layer.build(feed({ url }))
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
