/**
 * `SqlClient` on a pool of connections.
 *
 * Single statements of many fibers may share connections; a transaction has one for itself. A session that does nothing
 * in the midst of a transaction, because its process was stopped, is ended by the server: it holds up all others.
 */
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { repeatConflicts } from "@weft/sql"
import { Duration, Effect, Option, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { numbers } from "./Numbers.ts"
import { connectionOn, graceMs } from "./PostgresConnection.ts"
import type { Resolved } from "./PostgresOptions.ts"
import { away, isOutdated, troubleOf } from "./Troubles.ts"

const connectTimeout = Duration.seconds(5)

/** How long a session may do nothing while others wait for what its transaction holds, in milliseconds. */
const idleInTransactionMs = 5_000

/** How long a statement waits for what another transaction holds, in milliseconds: longer than the above. */
const lockTimeoutMs = 8_000

/** How many times a transaction is tried again whose statements are outdated: each may be, on each connection. */
const outdatedRetries = 100

/** A row may have a result and logs of some MiB. */
const messageBytesMax = 64 * 1024 * 1024

/**
 * Statements are planned once and kept, maybe while tables are nearly empty, and without a look at the parameters. A plan
 * that suits a small table, which is to read all of it and to join by hashes, would be used when it has millions of rows.
 * Each statement here has its index, and touches few rows.
 */
const planning = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off"
}

/** What every connection to the database has in common, the one that listens included. */
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

/** Connects when it is first asked something. */
export const open = (options: Resolved): Effect.Effect<SqlClient.SqlClient, SqlError.SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const { connections, sharing, statementTimeoutMs } = options
    const pool = yield* PgPool.make({
      ...connectionConfig(options),
      multiplex: sharing > 1,
      multiplexConcurrency: sharing,
      maxConnections: connections,
      minConnections: 0,
      idleTimeout: Duration.minutes(5)
    })
    const known = new WeakMap<PgConnection.PgConnection, SqlConnection.Connection>()
    const on = (connection: PgConnection.PgConnection): SqlConnection.Connection => {
      const before = known.get(connection)
      if (before !== undefined) return before
      const made = connectionOn(connection, statementTimeoutMs, pool.invalidate(connection))
      known.set(connection, made)
      return made
    }
    const waiting = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.timeoutOrElse(effect, { duration: connectTimeout, orElse: () => Effect.fail(noConnection) })
    /** While connections cannot be made, who wants one waits behind others, each for as long as a connection may take. */
    const lending = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.timeoutOrElse(effect, { duration: lendingTime, orElse: () => Effect.fail(noConnection) })
    const lendingTime = Duration.sum(connectTimeout, Duration.millis(statementTimeoutMs + graceMs))

    const client = yield* SqlClient.make({
      acquirer: Effect.mapError(Effect.map(waiting(pool.get), on), troubleOf),
      borrower: (use) =>
        Effect.mapError(lending(pool.use((connection) => use(on(connection)))), (error) =>
          SqlError.isSqlError(error) ? troubleOf(error) : error
        ),
      transactionAcquirer: Effect.mapError(Effect.map(waiting(pool.reserve), on), troubleOf),
      compiler: PgClient.makeCompiler(),
      driver: "sql-pg",
      spanAttributes: [["db.system.name", "postgresql"]],
      prepareTransactionControls: true,
      commit,
      releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
    })
    return Object.assign(client, { withTransaction: repeating(client) })
  }).pipe(Effect.provide(Reactivity.layer))

/** Whole transactions begin again; what is nested in one begins with it. */
const repeating = ({
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

const noConnection = away("No connection in time", new Error("All connections are in use"))

/** The server answers COMMIT with ROLLBACK when the transaction had failed before. */
const commit = (connection: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    typeof result === "object" && result !== null && "command" in result && result.command === "ROLLBACK"
      ? Effect.die(new Error("A transaction was committed after one of its statements had failed"))
      : Effect.void
  )
