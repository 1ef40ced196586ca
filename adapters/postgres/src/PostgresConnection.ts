/**
 * A connection as `effect/sql` wants it, on one of the driver's, which waits for no answer for ever.
 *
 * The server ends statements that take too long. A server that is cut off cannot even do that, so time is taken
 * here as well, and a connection that gave no answer is not used again.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Duration, Effect, Stream } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import { away, troubleOf } from "./Troubles.ts"

/** Longer than the server's own limit, by which a statement is given up that only takes long. */
export const graceMs = 2_000

export const connectionOn = (
  connection: PgConnection.PgConnection,
  statementTimeoutMs: number,
  abandon: Effect.Effect<void>
): SqlConnection.Connection => {
  const duration = Duration.millis(statementTimeoutMs + graceMs)
  // An error, which looks where it is made, costs as much as all else here.
  const onTimeout = Effect.andThen(
    Effect.forkDetach(abandon),
    Effect.suspend(() =>
      Effect.fail(away("No answer in time", new Error(`No answer within ${statementTimeoutMs + graceMs} ms`)))
    )
  )
  const within = <A>(effect: Effect.Effect<A, SqlError.SqlError>) =>
    Effect.mapError(Effect.timeoutOrElse(effect, { duration, orElse: () => onTimeout }), troubleOf)
  const rows = (text: string, parameters: ReadonlyArray<unknown>, prepare: boolean) =>
    Effect.map(within(connection.query(text, parameters, prepare)), (result) => result.rows)

  return {
    execute: (text, parameters) =>
      isUndoing(text) ? undone(rows(text, parameters, true)) : rows(text, parameters, true),
    executeRaw: (text, parameters) => within(connection.query(text, parameters)),
    executeUnprepared: (text, parameters) => rows(text, parameters, false),
    executeValues: (text, parameters) => within(connection.queryValues(text, parameters)),
    executeValuesUnprepared: (text, parameters) => within(connection.queryValues(text, parameters, false)),
    executeStream: (text, parameters) => Stream.mapError(connection.stream(text, parameters), troubleOf)
  }
}

/** `ROLLBACK`, also to a savepoint, and the release of one, after which the next statement tells what is wrong. */
const isUndoing = (text: string): boolean =>
  text.startsWith("R") && (text.startsWith("ROLLBACK") || text.startsWith("RELEASE SAVEPOINT"))

/** A transaction whose connection broke was undone by the server, which is all that was wanted. */
const undone = (rollback: Effect.Effect<ReadonlyArray<SqlConnection.Row>, SqlError.SqlError>) =>
  Effect.catchIf(
    rollback,
    ({ isRetryable }) => isRetryable,
    () => Effect.succeed([])
  )
