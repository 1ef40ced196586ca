/** How many deliveries wait or run, asked of the database past Weft, which would count them environment by environment. */
import { DatabaseSync } from "node:sqlite"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"

export interface Pending {
  readonly count: () => Promise<number>
  readonly close: () => Promise<void>
}

// Both read what an index has of running runs alone, and a table that is empty when all is done.
const question = `SELECT (SELECT count(*) FROM runs WHERE status = 'running') + (SELECT count(*) FROM deliveries) AS n`

export const pendingInSqlite = (file: string): Pending => {
  const db = new DatabaseSync(file, { readOnly: true })
  const statement = db.prepare(question)
  return { count: async () => Number(statement.get()?.n), close: async () => db.close() }
}

export const pendingInPostgres = async (url: string): Promise<Pending> => {
  const scope = await Effect.runPromise(Scope.make())
  const connection = await Effect.runPromise(
    Scope.provide(
      PgConnection.make({
        url: Redacted.make(url),
        startupParameters: { search_path: "weft" },
        maxMessageSize: 64 * 1024
      }),
      scope
    )
  )
  const count = Effect.map(connection.query(question, []), ({ rows }) => Number(Object(rows[0]).n))
  return {
    count: () => Effect.runPromise(count),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
