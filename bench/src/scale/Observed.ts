/** A client whose statements can be looked at, each with its parameters, before they are executed. */
import { PgClient } from "@effect/sql-pg"
import { Effect, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"

export type Look = (
  connection: SqlConnection.Connection,
  text: string,
  parameters: ReadonlyArray<unknown>
) => Effect.Effect<void, SqlError.SqlError>

/** `look` is asked within a transaction, which it has to leave as it was. */
export const observed = (
  client: SqlClient.SqlClient,
  look: Look
): Effect.Effect<SqlClient.SqlClient, never, Scope.Scope> => {
  const inTransaction = Effect.map(client.reserve, (connection) => looking(connection, look))
  return SqlClient.make({
    acquirer: Effect.map(client.reserve, (connection) => looking(connection, lookAlone(look))),
    transactionAcquirer: inTransaction,
    compiler: PgClient.makeCompiler(),
    driver: client.driver,
    spanAttributes: []
  }).pipe(Effect.provide(Reactivity.layer))
}

const lookAlone =
  (look: Look): Look =>
  (connection, text, parameters) => {
    const control = (command: string) => connection.executeUnprepared(command, [], undefined)
    return Effect.andThen(
      control("BEGIN"),
      Effect.ensuring(look(connection, text, parameters), Effect.ignore(control("ROLLBACK")))
    )
  }

const looking = (connection: SqlConnection.Connection, look: Look): SqlConnection.Connection => {
  const after = <A>(text: string, parameters: ReadonlyArray<unknown>, execute: Effect.Effect<A, SqlError.SqlError>) =>
    Effect.andThen(look(connection, text, parameters), execute)
  return {
    ...connection,
    execute: (text, parameters, transform) => after(text, parameters, connection.execute(text, parameters, transform)),
    executeRaw: (text, parameters) => after(text, parameters, connection.executeRaw(text, parameters)),
    executeValues: (text, parameters) => after(text, parameters, connection.executeValues(text, parameters))
  }
}
