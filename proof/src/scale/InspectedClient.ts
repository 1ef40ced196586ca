/** A SQL client that passes each statement with its parameters to an inspector before the statement is executed. */
import { PgClient } from "@effect/sql-pg"
import { Effect, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"

export type Inspect = (
  connection: SqlConnection.Connection,
  text: string,
  parameters: ReadonlyArray<unknown>
) => Effect.Effect<void, SqlError.SqlError>

/** Wraps a client. `inspect` runs within a transaction and must not change its state. */
export const inspected = (
  client: SqlClient.SqlClient,
  inspect: Inspect
): Effect.Effect<SqlClient.SqlClient, never, Scope.Scope> => {
  const inTransaction = Effect.map(client.reserve, (connection) => inspecting(connection, inspect))
  return SqlClient.make({
    acquirer: Effect.map(client.reserve, (connection) => inspecting(connection, inspectInTransaction(inspect))),
    transactionAcquirer: inTransaction,
    compiler: PgClient.makeCompiler(),
    driver: client.driver,
    spanAttributes: []
  }).pipe(Effect.provide(Reactivity.layer))
}

const inspectInTransaction =
  (inspect: Inspect): Inspect =>
  (connection, text, parameters) => {
    const control = (command: string) => connection.executeUnprepared(command, [], undefined)
    return Effect.andThen(
      control("BEGIN"),
      Effect.ensuring(inspect(connection, text, parameters), Effect.ignore(control("ROLLBACK")))
    )
  }

const inspecting = (connection: SqlConnection.Connection, inspect: Inspect): SqlConnection.Connection => {
  const after = <A>(text: string, parameters: ReadonlyArray<unknown>, execute: Effect.Effect<A, SqlError.SqlError>) =>
    Effect.andThen(inspect(connection, text, parameters), execute)
  return {
    ...connection,
    execute: (text, parameters, transform) => after(text, parameters, connection.execute(text, parameters, transform)),
    executeRaw: (text, parameters) => after(text, parameters, connection.executeRaw(text, parameters)),
    executeValues: (text, parameters) => after(text, parameters, connection.executeValues(text, parameters))
  }
}
