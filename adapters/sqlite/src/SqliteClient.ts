/**
 * `SqlClient` on one connection to a SQLite file.
 *
 * A client that leaves its connection free to others between taking it and using it, or begins its transactions
 * deferred, would have them meet. So the connection is lent out, to one at a time.
 */
import { Effect, type Scope, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, Statement } from "effect/sql"
import { Connection } from "./Connection.ts"

export interface ConnectionOptions {
  /** A path, or `:memory:`. */
  readonly file: string
  /** `full`: what is committed survives a loss of power. `normal`: it survives the end of the process. */
  readonly synchronous: "full" | "normal"
  readonly readonly: boolean
}

/** How long a statement waits for the file's other connections of this process, in milliseconds. */
const busyTimeoutMs = 5000

/** A connection for the life of the scope. Dies where the file cannot be opened. */
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

/** What a client has while it uses its connection. */
type Turn = Effect.Effect<void, never, Scope.Scope>

/** The client of a connection that nobody else uses; `turn` where another connection writes to the same file. */
export const clientOf = Effect.fnUntraced(function* (connection: Connection, turn: Turn = Effect.void) {
  const semaphore = yield* Semaphore.make(1)
  const { acquirer, borrower, transactionAcquirer, ...others } = SqlClient.makeSqliteAcquirers({
    connection: Effect.succeed(connection),
    semaphore
  })
  return yield* SqlClient.make({
    ...others,
    acquirer: Effect.tap(acquirer, () => turn),
    transactionAcquirer: Effect.tap(transactionAcquirer, () => turn),
    borrower: (use) => borrower((lent) => Effect.scoped(Effect.andThen(turn, use(lent)))),
    driver: "sqlite-node",
    compiler: Statement.makeCompilerSqlite(),
    spanAttributes: [["db.system.name", "sqlite"]],
    // A deferred transaction that comes to write after another has done so fails, whatever the timeout.
    beginTransaction: "BEGIN IMMEDIATE",
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
}, Effect.provide(Reactivity.layer))

export const open = (options: ConnectionOptions, turn?: Turn) =>
  Effect.flatMap(connect(options), (connection) => clientOf(connection, turn))
