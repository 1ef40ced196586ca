/**
 * `SqlClient` on one connection to a SQLite file.
 *
 * The driver's own client leaves the connection free to others between taking it and using it, and begins its
 * transactions deferred. So only its connection is used: it is reserved for good, and a client of ours lends it out.
 */
import * as Driver from "@effect/sql-sqlite-node/SqliteClient"
import { Effect, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"

export interface ConnectionOptions {
  /** A path, or `:memory:`. */
  readonly file: string
  /** `full`: what is committed survives a loss of power. `normal`: it survives the end of the process. */
  readonly synchronous: "full" | "normal"
  readonly readonly: boolean
}

/** How long a statement waits for the file's other connections of this process, in milliseconds. */
const busyTimeoutMs = 5000

export const open = Effect.fnUntraced(function* ({ file, synchronous, readonly }: ConnectionOptions) {
  const driver = yield* Driver.make({ filename: file, readonly, disableWAL: readonly })
  const connection = withTroubles(yield* driver.reserve)
  for (const pragma of [
    `busy_timeout = ${busyTimeoutMs}`,
    `synchronous = ${synchronous}`,
    "temp_store = memory",
    "cache_size = -16000",
    "foreign_keys = on"
  ]) {
    yield* connection.executeUnprepared(`PRAGMA ${pragma}`, [], undefined)
  }
  const semaphore = yield* Semaphore.make(1)
  return yield* SqlClient.make({
    ...SqlClient.makeSqliteAcquirers({ connection: Effect.succeed(connection), semaphore }),
    driver: "sqlite-node",
    compiler: Statement.makeCompilerSqlite(),
    spanAttributes: [["db.system.name", "sqlite"]],
    // A deferred transaction that comes to write after another has done so fails, whatever the timeout.
    beginTransaction: "BEGIN IMMEDIATE",
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
}, Effect.provide(Reactivity.layer))

/** The driver takes a full or failing disk for a mistake in a statement; to us it is a database that does not answer. */
const withTroubles = (connection: SqlConnection.Connection): SqlConnection.Connection => ({
  ...connection,
  execute: (sql, params, transform) => Effect.mapError(connection.execute(sql, params, transform), troubleOf),
  executeRaw: (sql, params) => Effect.mapError(connection.executeRaw(sql, params), troubleOf),
  executeUnprepared: (sql, params, transform) =>
    Effect.mapError(connection.executeUnprepared(sql, params, transform), troubleOf)
})

/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL. */
const diskTroubles = new Set([8, 10, 13])

const troubleOf = (error: SqlError.SqlError): SqlError.SqlError => {
  const { cause, _tag, message } = error.reason
  if (_tag !== "UnknownError" || typeof cause !== "object" || cause === null || !("errcode" in cause)) return error
  return typeof cause.errcode === "number" && diskTroubles.has(cause.errcode & 0xff)
    ? new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation: "execute" }) })
    : error
}
