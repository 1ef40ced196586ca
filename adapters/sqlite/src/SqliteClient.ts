/**
 * `SqlClient` on one connection to a SQLite file.
 *
 * One fiber at a time borrows the connection, and transactions are not deferred. Otherwise transactions of different
 * fibers could interleave.
 */
import { Effect, type Scope, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, Statement } from "effect/sql"
import { Connection } from "./Connection.ts"

export interface ConnectionOptions {
  /** A path, or `:memory:`. */
  readonly file: string
  /** `full`: commits survive a power loss. `normal`: they survive a crash of the process. */
  readonly synchronous: "full" | "normal"
  readonly readonly: boolean
}

/** Maximum time that a statement waits for other connections of this process to the file, in milliseconds. */
const busyTimeoutMs = 5000

/** Opens a connection until the scope ends. Dies if the file cannot be opened. */
export const connect = Effect.fnUntraced(function* ({ file, synchronous, readonly }: ConnectionOptions) {
  const connection = yield* Effect.acquireRelease(
    Effect.sync(() => new Connection(file, readonly)),
    ({ database }) => Effect.sync(() => database.close())
  )
  yield* Effect.sync(() => {
    for (const pragma of [
      `busy_timeout = ${busyTimeoutMs}`,
      ...(readonly ? [] : ["journal_mode = WAL"]),
      `synchronous = ${synchronous}`,
      "temp_store = memory",
      "cache_size = -16000",
      "foreign_keys = on"
    ]) {
      connection.database.exec(`PRAGMA ${pragma}`)
    }
  })
  return connection
})

/** Acquires the write lock until the scope ends. */
type AcquireLock = Effect.Effect<void, never, Scope.Scope>

/** Returns the only client of a connection. Pass `lock` if another connection writes to the same file. */
export const makeClient = Effect.fnUntraced(function* (connection: Connection, lock: AcquireLock = Effect.void) {
  const semaphore = yield* Semaphore.make(1)
  const { acquirer, borrower, transactionAcquirer, ...others } = SqlClient.makeSqliteAcquirers({
    connection: Effect.succeed(connection),
    semaphore
  })
  return yield* SqlClient.make({
    ...others,
    acquirer: Effect.tap(acquirer, () => lock),
    transactionAcquirer: Effect.tap(transactionAcquirer, () => lock),
    borrower: (use) => borrower((lent) => Effect.scoped(Effect.andThen(lock, use(lent)))),
    driver: "sqlite-node",
    compiler: Statement.makeCompilerSqlite(),
    spanAttributes: [["db.system.name", "sqlite"]],
    // A deferred transaction whose first write follows one of another connection fails, whatever the timeout.
    beginTransaction: "BEGIN IMMEDIATE",
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
}, Effect.provide(Reactivity.layer))

export const open = (options: ConnectionOptions, lock?: AcquireLock) =>
  Effect.flatMap(connect(options), (connection) => makeClient(connection, lock))
