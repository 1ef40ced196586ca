/** `RunControlStore` on SQL. */
import {
  cancelRun,
  type EnvId,
  type Run,
  RunControlStore,
  type RunId,
  type RunLog,
  type RunSelection,
  type RunStatus,
  type Timestamp,
  utf8Length
} from "@weft/core"
import { Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Database, orUnavailable } from "./Database.ts"
import type { Dialect, Rows } from "./Dialect.ts"
import { addDelivery, addEnd, journalStatements, logsText, storedBytes } from "./JournalStatements.ts"
import { runColumns } from "./RunStoreSql.ts"
import { type Counted, Tally } from "./Tally.ts"

export const layer: Layer.Layer<RunControlStore, never, Database> = Layer.effect(
  RunControlStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, reader, writer: sql } = database
    const statements = journalStatements(database)

    const cancel = Effect.fnUntraced(function* (envId: EnvId, which: RunSelection, at: Timestamp, limit: number) {
      const found = yield* sql<Run & Held>`
        SELECT ${sql.literal(runColumns)}, delivery_id, group_key, logs FROM runs
        WHERE ${conditionOf(sql, dialect, envId, which)} ORDER BY run_id LIMIT ${limit}${sql.literal(dialect.forUpdate())}`
      const ends: Rows = []
      const cancelled = found.map(({ delivery_id, group_key, logs, ...row }) => {
        const run = cancelRun(row, at)
        addEnd(ends, run, logs, delivery_id)
        return { run, group: group_key, bytes: storedBytes(run, logs) }
      })
      // Some may have ended since they were read.
      const over = new Set((yield* statements.endRuns.returning(ends)).map(({ run_id }) => run_id))
      const counted = cancelled.filter(({ run }) => over.has(run.run_id))
      const tally = new Tally()
      for (const { run, bytes } of counted) tally.ended(run, bytes)
      yield* statements.countRuns.run(tally.runs())
      return counted.map(({ run, group }) => ({ run, group }))
    })

    const log = Effect.fnUntraced(function* ({ env_id, run_id, entries }: RunLog) {
      const logs = logsText(entries)
      const set = sql`UPDATE runs SET logs = ${logs} WHERE env_id = ${env_id} AND run_id = ${run_id}`
      const [open] = yield* sql<{ status: RunStatus }>`${set} AND status = 'running' RETURNING status`
      if (open !== undefined) return open.status
      const [run] = yield* sql<Counted & { readonly status: RunStatus; readonly bytes: number }>`
        SELECT env_id, project_id, project_name, run_type, status, start_time,
          coalesce(octet_length(logs), 0) AS bytes
        FROM runs WHERE env_id = ${env_id} AND run_id = ${run_id}`
      if (run?.status === "cancelled") {
        yield* set
        yield* statements.countRuns.run(regrown(run, utf8Length(logs ?? "") - run.bytes))
      }
      return run?.status ?? null
    })

    return RunControlStore.of({
      cancel: (envId, which, at, limit) =>
        sql.withTransaction(cancel(envId, which, at, limit)).pipe(orUnavailable("cancel")),

      log: (logs) => sql.withTransaction(Effect.forEach(logs, log)).pipe(orUnavailable("log")),

      ended: (runs) =>
        Effect.forEach([...Map.groupBy(runs, (run) => run.env_id)], ([envId, members]) => {
          const ids = dialect.texts(
            reader,
            members.map((run) => run.run_id)
          )
          return reader<{ run_id: RunId }>`
            SELECT run_id FROM runs WHERE env_id = ${envId} AND run_id IN (${ids}) AND status <> 'running'`
        }).pipe(
          Effect.map((found) => found.flat().map(({ run_id }) => run_id)),
          orUnavailable("ended")
        ),

      redeliver: (delivery) => {
        const rows: Rows = []
        addDelivery(rows, delivery)
        return sql
          .withTransaction(statements.insertDeliveries.run(rows))
          .pipe(Effect.asVoid, orUnavailable("redeliver"))
      }
    })
  })
)

interface Held {
  readonly delivery_id: string | null
  readonly group_key: string | null
  readonly logs: string | null
}

/** The log of a run that is counted has grown by `bytes`; how many runs there are stays. */
const regrown = (run: Counted, bytes: number): Rows => [
  run.env_id,
  run.project_id,
  run.project_name,
  run.run_type,
  run.status,
  0,
  bytes,
  0,
  0
]

const conditionOf = (
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  envId: EnvId,
  { runId, type, since, until, eventId, functions }: RunSelection
): Statement.Fragment => {
  // Not as a parameter: the index of running runs is found by the text.
  const terms: Array<Statement.Fragment> = [sql`env_id = ${envId}`, sql.literal("status = 'running'")]
  if (runId !== undefined) terms.push(sql`run_id = ${runId}`)
  if (type !== undefined) terms.push(sql`run_type = ${type}`)
  if (since !== undefined) terms.push(sql`start_time >= ${since}`)
  if (until !== undefined) terms.push(sql`start_time <= ${until}`)
  if (eventId !== undefined) terms.push(sql`event_id = ${eventId}`)
  if (functions !== undefined) {
    const names = dialect.texts(sql, functions)
    terms.push(sql`(ns || '/' || var IN (${names}) OR project_name || ':' || ns || '/' || var IN (${names}))`)
  }
  return sql.and(terms)
}
