/**
 * `SqlClient` on a pool of connections.
 *
 * Single statements of many fibers may share connections; a transaction has its own. The server ends a session that is
 * idle in a transaction, because its locks block others. This happens if the process is suspended.
 */
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { repeatConflicts } from "@weft/sql"
import { Duration, Effect, Option, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { numbers } from "./Numbers.ts"
import { graceMs, wrapConnection } from "./PostgresConnection.ts"
import { classify, isOutdated, unavailable } from "./PostgresErrors.ts"
import type { Resolved } from "./PostgresOptions.ts"

const connectTimeout = Duration.seconds(5)

/** Maximum idle time of a session in a transaction, in milliseconds. */
const idleInTransactionMs = 5_000

/** Maximum time that a statement waits for a lock, in milliseconds. Longer than `idleInTransactionMs`. */
const lockTimeoutMs = 8_000

/** Maximum retries of a transaction with outdated statements: each statement may be outdated on each connection. */
const outdatedRetries = 100

/** Maximum bytes of a protocol message. A row may have a result and logs of some MiB. */
const messageBytesMax = 64 * 1024 * 1024

/**
 * Planner settings. Statements are prepared once, maybe while tables are nearly empty, and planned without their
 * parameters. A plan for a small table, with sequential scans and hash joins, would still be used for millions of rows.
 * Each statement here has an index and affects few rows.
 */
const planning = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off"
}

/** Returns the settings of every connection, including the one that listens for notifications. */
export const connectionConfig = ({ url, schema, statementTimeoutMs, wholeTables }: Resolved): PgConnection.Config => ({
  url,
  types: numbers,
  connectTimeout,
  keepAlive: Duration.seconds(15),
  applicationName: "weft",
  maxMessageSize: messageBytesMax,
  startupParameters: {
    search_path: schema,
    timezone: "UTC",
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(lockTimeoutMs),
    idle_in_transaction_session_timeout: String(idleInTransactionMs),
    ...(wholeTables ? {} : planning)
  }
})

/** Returns a client. It connects on the first statement. */
export const open = (options: Resolved): Effect.Effect<SqlClient.SqlClient, SqlError.SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const { connections, statementsPerConnection, statementTimeoutMs } = options
    const pool = yield* PgPool.make({
      ...connectionConfig(options),
      multiplex: statementsPerConnection > 1,
      multiplexConcurrency: statementsPerConnection,
      maxConnections: connections,
      minConnections: 0,
      idleTimeout: Duration.minutes(5)
    })
    const known = new WeakMap<PgConnection.PgConnection, SqlConnection.Connection>()
    const wrap = (connection: PgConnection.PgConnection): SqlConnection.Connection => {
      const before = known.get(connection)
      if (before !== undefined) return before
      const made = wrapConnection(connection, statementTimeoutMs, pool.invalidate(connection))
      known.set(connection, made)
      return made
    }
    const withConnectTimeout = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.timeoutOrElse(effect, { duration: connectTimeout, orElse: () => Effect.fail(noConnection) })
    /** Limits the whole wait: during an outage callers queue, each for as long as a connection attempt takes. */
    const withBorrowTimeout = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.timeoutOrElse(effect, { duration: borrowTimeout, orElse: () => Effect.fail(noConnection) })
    const borrowTimeout = Duration.sum(connectTimeout, Duration.millis(statementTimeoutMs + graceMs))

    const client = yield* SqlClient.make({
      acquirer: Effect.mapError(Effect.map(withConnectTimeout(pool.get), wrap), classify),
      borrower: (use) =>
        Effect.mapError(withBorrowTimeout(pool.use((connection) => use(wrap(connection)))), (error) =>
          SqlError.isSqlError(error) ? classify(error) : error
        ),
      transactionAcquirer: Effect.mapError(Effect.map(withConnectTimeout(pool.reserve), wrap), classify),
      compiler: PgClient.makeCompiler(),
      driver: "sql-pg",
      spanAttributes: [["db.system.name", "postgresql"]],
      prepareTransactionControls: true,
      commit,
      releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
    })
    return Object.assign(client, { withTransaction: makeWithTransaction(client) })
  }).pipe(Effect.provide(Reactivity.layer))

/** Returns a `withTransaction` that retries whole transactions. Nested ones are retried with their outer transaction. */
const makeWithTransaction = ({
  withTransaction,
  transactionService
}: SqlClient.SqlClient): SqlClient.SqlClient["withTransaction"] => {
  return (effect) =>
    Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
      Option.isSome(outer)
        ? withTransaction(effect)
        : Effect.retry(repeatConflicts(withTransaction(effect)), { times: outdatedRetries, while: isOutdated })
    )
}

const noConnection = unavailable("No connection available in time", new Error("All connections are in use"))

/** Commits. Dies if the server rolls back instead, as it does when a statement of the transaction has failed. */
const commit = (connection: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    typeof result === "object" && result !== null && "command" in result && result.command === "ROLLBACK"
      ? Effect.die(new Error("A transaction was committed after one of its statements had failed"))
      : Effect.void
  )
