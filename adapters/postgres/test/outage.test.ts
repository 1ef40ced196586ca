/** Outages of the database are retryable errors, not defects. */
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { type PostgresServer, postgres, tcpProxy } from "@weft/tooling/services"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { open } from "../src/PostgresClient.ts"
import { PostgresUnusable, resolve } from "../src/PostgresOptions.ts"
import { freshDatabase } from "./Fresh.ts"

const openClient = (url: string) => {
  const options = resolve({ url })
  return options instanceof PostgresUnusable ? Effect.die(options) : open(options)
}

/** Asserts that the effect fails with a retryable error. */
const failsRetryable = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.isTrue(SqlError.isSqlError(error) && error.isRetryable, String(error))
  })

/** A server that answers every message with the error of a server that is still starting. */
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

const serverOf = <S extends PostgresServer>(start: () => Promise<S>) =>
  Effect.acquireRelease(Effect.promise(start), ({ remove }) => Effect.promise(remove))

describe("an outage of the database", () => {
  it.effect("is retryable during a transaction", () =>
    Effect.gen(function* () {
      const sql = yield* openClient(yield* freshDatabase)
      yield* failsRetryable(sql.withTransaction(sql`SELECT pg_terminate_backend(pg_backend_pid())`))
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    })
  )

  it.effect("does not hide the failure of a transaction that fails for another reason", () =>
    Effect.gen(function* () {
      const sql = yield* openClient(yield* freshDatabase)
      const broken = Effect.ignore(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      const error = yield* Effect.flip(sql.withTransaction(Effect.andThen(broken, Effect.fail("refused"))))
      assert.strictEqual(error, "refused")
    })
  )

  it.effect("is retryable during a nested transaction", () =>
    Effect.gen(function* () {
      const sql = yield* openClient(yield* freshDatabase)
      const inner = sql.withTransaction(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      yield* failsRetryable(sql.withTransaction(Effect.andThen(sql`SELECT 1`, inner)))
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    })
  )

  it.live(
    "is retryable on a read-only standby, and its connections are replaced by those to the primary",
    () =>
      Effect.gen(function* () {
        const primary = yield* serverOf(() => postgres())
        const standby = yield* serverOf(primary.startStandby)
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() => tcpProxy(standby.port)),
          ({ close }) => Effect.promise(close)
        )
        const url = new URL(primary.url)
        url.port = String(proxy.port)
        const sql = yield* openClient(url.href)
        yield* failsRetryable(sql`CREATE TABLE public.first (n int)`)
        yield* failsRetryable(sql.withTransaction(sql`CREATE TABLE public.first (n int)`))
        // A pooler or a virtual address now leads to the primary, while the standby keeps its connections.
        proxy.retarget(primary.port)
        // The pool may have opened connections before.
        yield* Effect.retry(sql`CREATE TABLE public.first (n int)`, { times: 2 })
        yield* Effect.retry(sql.withTransaction(sql`INSERT INTO public.first (n) VALUES (1)`), { times: 2 })
      }),
    60_000
  )

  it.effect("is retryable while the server is starting", () =>
    Effect.gen(function* () {
      const address = (yield* startingServer).address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const sql = yield* openClient(`postgres://somebody:secret@127.0.0.1:${port}/postgres`)
      yield* failsRetryable(sql`SELECT 1`)
      yield* failsRetryable(sql.withTransaction(sql`SELECT 1`))
    })
  )
})
