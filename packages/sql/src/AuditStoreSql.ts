/** `AuditStore` on SQL. */
import { StoreUnavailable } from "@weft/core"
import { AuditEntry, type AuditFilter, AuditStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { type SqlClient, SqlError, type Statement } from "effect/sql"
import { Database, orUnavailable, type RowOf, readCount } from "./Database.ts"

export const layer: Layer.Layer<AuditStore, never, Database> = Layer.effect(
  AuditStore,
  Effect.gen(function* () {
    const { reader, writer } = yield* Database

    const insert = (entry: AuditEntry): Effect.Effect<void, SqlError.SqlError> =>
      Effect.asVoid(writer`INSERT INTO audit ${writer.insert({ ...entry })}`)

    const within = <A, E, R>(change: Effect.Effect<A, E, R>, entryOf: (result: A) => AuditEntry | null) =>
      writer
        .withTransaction(
          Effect.tap(unwrapSqlError(change), (result): Effect.Effect<void, SqlError.SqlError> => {
            const entry = entryOf(result)
            return entry === null ? Effect.void : insert(entry)
          })
        )
        .pipe(
          Effect.catch((error): Effect.Effect<never, E | StoreUnavailable> => {
            if (!SqlError.isSqlError(error)) return Effect.fail(error)
            return error.isRetryable
              ? Effect.fail(new StoreUnavailable({ operation: "audited change", cause: error }))
              : Effect.die(error)
          })
        )

    return AuditStore.of({
      within,

      append: (entries) =>
        writer.withTransaction(Effect.forEach(entries, insert, { discard: true })).pipe(orUnavailable("append")),

      list: (filter, { limit, offset }) => {
        const where = conditions(reader, filter)
        return Effect.all({
          items: Effect.map(
            reader<Row>`SELECT * FROM audit WHERE ${where} ORDER BY audit_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map((row) => new AuditEntry(row, { disableChecks: true }))
          ),
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM audit WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      trim: (what) => writer.withTransaction(trim(writer, what)).pipe(orUnavailable("trim"))
    })
  })
)

type Row = RowOf<AuditEntry>

/**
 * Unwraps the database's error from `StoreUnavailable`. The change runs inside an outer transaction, which is retried
 * after a deadlock only if it sees that error.
 */
const unwrapSqlError = <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catch(
    change,
    (error): Effect.Effect<never, E | SqlError.SqlError> =>
      Effect.fail(error instanceof StoreUnavailable && SqlError.isSqlError(error.cause) ? error.cause : error)
  )

const conditions = (sql: SqlClient.SqlClient, filter: AuditFilter): Statement.Fragment =>
  sql.and([
    sql`1 = 1`,
    ...(filter.env_id === undefined ? [] : [sql`env_id = ${filter.env_id}`]),
    ...(filter.action === undefined ? [] : [sql`action = ${filter.action}`]),
    ...(filter.outcome === undefined ? [] : [sql`outcome = ${filter.outcome}`]),
    ...(filter.actor_id === undefined ? [] : [sql`actor_id = ${filter.actor_id}`]),
    ...(filter.object_id === undefined ? [] : [sql`object_id = ${filter.object_id}`]),
    ...(filter.since === undefined ? [] : [sql`created_at >= ${filter.since}`])
  ])

type Kind = Pick<Row, "env_id" | "action" | "outcome">

const trim = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { before, keep, limit }: Parameters<AuditStore["Service"]["trim"]>[0]
) {
  const old = yield* sql`DELETE FROM audit WHERE audit_id IN
    (SELECT audit_id FROM audit WHERE created_at < ${before} ORDER BY created_at LIMIT ${limit}) RETURNING audit_id`
  let removed = old.length
  const kinds = yield* sql<Kind>`SELECT env_id, action, outcome FROM audit
    GROUP BY env_id, action, outcome HAVING count(*) > ${keep}`
  for (const { env_id, action, outcome } of kinds) {
    const ofEnv = env_id === null ? sql`env_id IS NULL` : sql`env_id = ${env_id}`
    const more = yield* sql`DELETE FROM audit WHERE audit_id IN
      (SELECT audit_id FROM audit WHERE ${ofEnv} AND action = ${action} AND outcome = ${outcome}
       ORDER BY audit_id DESC LIMIT ${limit - removed} OFFSET ${keep}) RETURNING audit_id`
    removed += more.length
  }
  return removed
})
