/**
 * Adapts a connection of the driver to `effect/sql`, with a timeout for every statement.
 *
 * The server ends statements that take too long. An unreachable server cannot, so the client has a timeout as well. A
 * connection that timed out is not used again, nor one to a server that has become a read-only standby.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Duration, Effect, Stream } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import { classify, isReadOnly, unavailable } from "./PostgresErrors.ts"

/** Milliseconds that the client's timeout exceeds the server's, so that the server ends a slow statement first. */
export const graceMs = 2_000

export const wrapConnection = (
  connection: PgConnection.PgConnection,
  statementTimeoutMs: number,
  abandon: Effect.Effect<void>
): SqlConnection.Connection => {
  const duration = Duration.millis(statementTimeoutMs + graceMs)
  // Created lazily: an error captures its stack, which costs as much as everything else here.
  const onTimeout = Effect.andThen(
    Effect.forkDetach(abandon),
    Effect.suspend(() =>
      Effect.fail(
        unavailable(
          "The database did not answer in time",
          new Error(`No answer within ${statementTimeoutMs + graceMs} ms`)
        )
      )
    )
  )
  const withTimeout = <A>(effect: Effect.Effect<A, SqlError.SqlError>) =>
    Effect.catch(Effect.timeoutOrElse(effect, { duration, orElse: () => onTimeout }), (error) =>
      isReadOnly(error)
        ? Effect.andThen(Effect.forkDetach(abandon, { startImmediately: true }), Effect.fail(classify(error)))
        : Effect.fail(classify(error))
    )
  const rows = (text: string, parameters: ReadonlyArray<unknown>, prepare: boolean) =>
    Effect.map(withTimeout(connection.query(text, parameters, prepare)), (result) => result.rows)

  return {
    execute: (text, parameters) =>
      isRollback(text) ? ignoreLostConnection(rows(text, parameters, true)) : rows(text, parameters, true),
    executeRaw: (text, parameters) => withTimeout(connection.query(text, parameters)),
    executeUnprepared: (text, parameters) => rows(text, parameters, false),
    executeValues: (text, parameters) => withTimeout(connection.queryValues(text, parameters)),
    executeValuesUnprepared: (text, parameters) => withTimeout(connection.queryValues(text, parameters, false)),
    executeStream: (text, parameters) => Stream.mapError(connection.stream(text, parameters), classify)
  }
}

/** True for `ROLLBACK`, also to a savepoint, and for the release of one. A later statement then reports the failure. */
const isRollback = (text: string): boolean =>
  text.startsWith("R") && (text.startsWith("ROLLBACK") || text.startsWith("RELEASE SAVEPOINT"))

/** Ignores a lost connection: the server has rolled the transaction back. */
const ignoreLostConnection = (rollback: Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>) =>
  Effect.catchIf(
    rollback,
    ({ isRetryable }) => isRetryable,
    () => Effect.succeed([])
  )
