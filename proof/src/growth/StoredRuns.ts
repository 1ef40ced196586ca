/** Queries that bypass Weft, so that they cost little however many rows are stored. */
import { DatabaseSync } from "node:sqlite"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"

export interface StoredRuns {
  /** Counts pending deliveries and running runs of all environments. */
  readonly pending: () => Promise<number>
  /** Returns the result of an event's run as JSON, or undefined while no run has succeeded. */
  readonly readResult: (envId: string, eventId: string) => Promise<string | undefined>
  readonly close: () => Promise<void>
}

// Both subqueries read few rows: an index contains only running runs, and settled deliveries are deleted.
const pending = `SELECT (SELECT count(*) FROM runs WHERE status = 'running') + (SELECT count(*) FROM deliveries) AS n`

const resultWhere = (envId: string, eventId: string): string =>
  `SELECT result FROM runs WHERE env_id = ${envId} AND event_id = ${eventId} AND status = 'succeeded'`

const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

export const openSqlite = (file: string): StoredRuns => {
  const db = new DatabaseSync(file, { readOnly: true })
  const count = db.prepare(pending)
  const result = db.prepare(resultWhere("?", "?"))
  return {
    pending: async () => Number(count.get()?.n),
    readResult: async (envId, eventId) => asText(result.get(envId, eventId)?.result),
    close: async () => db.close()
  }
}

export const openPostgres = async (url: string): Promise<StoredRuns> => {
  const scope = await Effect.runPromise(Scope.make())
  const connecting = PgConnection.make({
    url: Redacted.make(url),
    startupParameters: { search_path: "weft" },
    maxMessageSize: 64 * 1024
  })
  const connection = await Effect.runPromise(Scope.provide(connecting, scope))
  const query = async (text: string, parameters: ReadonlyArray<unknown>): Promise<Readonly<Record<string, unknown>>> =>
    Object(await Effect.runPromise(connection.query(text, parameters)).then(({ rows }) => rows[0]))
  return {
    pending: async () => Number((await query(pending, [])).n),
    readResult: async (envId, eventId) => asText((await query(resultWhere("$1", "$2"), [envId, eventId])).result),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
