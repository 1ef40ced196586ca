/** What the benchmark asks the database past Weft, so that its questions cost little however much is stored. */
import { DatabaseSync } from "node:sqlite"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"

export interface Questions {
  /** How many deliveries wait or run, in all environments. */
  readonly pending: () => Promise<number>
  /** What the run of an event returned, as JSON; undefined while there is nothing. */
  readonly resultOf: (envId: string, eventId: string) => Promise<string | undefined>
  readonly close: () => Promise<void>
}

// Both parts read little: an index has running runs alone, and no delivery is left when all is done.
const pending = `SELECT (SELECT count(*) FROM runs WHERE status = 'running') + (SELECT count(*) FROM deliveries) AS n`

const resultWhere = (envId: string, eventId: string): string =>
  `SELECT result FROM runs WHERE env_id = ${envId} AND event_id = ${eventId} AND status = 'succeeded'`

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

export const questionsToSqlite = (file: string): Questions => {
  const db = new DatabaseSync(file, { readOnly: true })
  const count = db.prepare(pending)
  const result = db.prepare(resultWhere("?", "?"))
  return {
    pending: async () => Number(count.get()?.n),
    resultOf: async (envId, eventId) => textOf(result.get(envId, eventId)?.result),
    close: async () => db.close()
  }
}

export const questionsToPostgres = async (url: string): Promise<Questions> => {
  const scope = await Effect.runPromise(Scope.make())
  const connecting = PgConnection.make({
    url: Redacted.make(url),
    startupParameters: { search_path: "weft" },
    maxMessageSize: 64 * 1024
  })
  const connection = await Effect.runPromise(Scope.provide(connecting, scope))
  const ask = async (text: string, parameters: ReadonlyArray<unknown>): Promise<Readonly<Record<string, unknown>>> =>
    Object(await Effect.runPromise(connection.query(text, parameters)).then(({ rows }) => rows[0]))
  return {
    pending: async () => Number((await ask(pending, [])).n),
    resultOf: async (envId, eventId) => textOf((await ask(resultWhere("$1", "$2"), [envId, eventId])).result),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
