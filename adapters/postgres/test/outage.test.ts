/** A database that goes away is not there for a while, which is nobody's mistake. */
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { open } from "../src/PostgresClient.ts"
import { PostgresUnusable, resolve } from "../src/PostgresOptions.ts"
import { freshDatabase } from "./Fresh.ts"

const clientOf = (url: string) => {
  const options = resolve({ url })
  return options instanceof PostgresUnusable ? Effect.die(options) : open(options)
}

/** Fails with what a client of the database may try again. */
const passes = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.isTrue(SqlError.isSqlError(error) && error.isRetryable, String(error))
  })

/** A server that answers whatever it is sent with the refusal of one that is still starting. */
const startingServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const text = "SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
    const refusal = Buffer.concat([Buffer.from("E"), Buffer.alloc(4), Buffer.from(text)])
    refusal.writeInt32BE(refusal.length - 1, 1)
    const server = createServer((socket) => socket.once("data", () => socket.end(refusal)).on("error", () => undefined))
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
    return server
  }),
  (server) => Effect.sync(() => server.close())
)

describe("an outage", () => {
  it.effect("in the midst of a transaction", () =>
    Effect.gen(function* () {
      const sql = yield* clientOf(yield* freshDatabase)
      yield* passes(sql.withTransaction(sql`SELECT pg_terminate_backend(pg_backend_pid())`))
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    })
  )

  it.effect("after the last statement of a transaction that fails for another reason", () =>
    Effect.gen(function* () {
      const sql = yield* clientOf(yield* freshDatabase)
      const broken = Effect.ignore(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      const error = yield* Effect.flip(sql.withTransaction(Effect.andThen(broken, Effect.fail("refused"))))
      assert.strictEqual(error, "refused")
    })
  )

  it.effect("in the midst of a transaction within another", () =>
    Effect.gen(function* () {
      const sql = yield* clientOf(yield* freshDatabase)
      const inner = sql.withTransaction(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      yield* passes(sql.withTransaction(Effect.andThen(sql`SELECT 1`, inner)))
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    })
  )

  it.effect("of which it tells itself while it starts", () =>
    Effect.gen(function* () {
      const address = (yield* startingServer).address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const sql = yield* clientOf(`postgres://somebody:secret@127.0.0.1:${port}/postgres`)
      yield* passes(sql`SELECT 1`)
      yield* passes(sql.withTransaction(sql`SELECT 1`))
    })
  )
})
