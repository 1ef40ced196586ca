/** `RunStore` on SQL. */
import {
  type EnvId,
  LogEntry,
  leastIdAt,
  NotFound,
  type Run,
  type RunFilter,
  RunId,
  type RunStatus,
  RunStore
} from "@weft/core"
import { Effect, Layer, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { countOf, Database, onlyRow, orUnavailable } from "./Database.ts"
import type { Dialect } from "./Dialect.ts"
import { weighed, wholeRows } from "./LargeTexts.ts"

export const layer: Layer.Layer<RunStore, never, Database> = Layer.effect(
  RunStore,
  Effect.gen(function* () {
    const { dialect, reader } = yield* Database
    const columns = reader.literal(runColumns)
    const condition = conditionOf(reader, dialect)

    const total = (envId: EnvId, filter: RunFilter) => {
      const where = condition(envId, filter)
      if (filter.since !== undefined || filter.eventId !== undefined || filter.status === "running") {
        return countOf(reader<Count>`SELECT count(*) AS n FROM runs WHERE ${where}`)
      }
      const over = reader<Count>`SELECT sum(n) AS n FROM run_counts WHERE ${where}`
      if (filter.status !== undefined) return countOf(over)
      const running = condition(envId, { ...filter, status: "running" })
      return countOf(reader<Count>`SELECT sum(n) AS n FROM (
        ${over} UNION ALL SELECT count(*) FROM runs WHERE ${running}) AS counts`)
    }

    return RunStore.of({
      get: (envId, id) =>
        onlyRow(
          reader<Run>`SELECT ${columns} FROM runs WHERE env_id = ${envId} AND run_id = ${id}`,
          new NotFound({ resource: "run" })
        ).pipe(orUnavailable("get")),

      list: (envId, { limit, offset }, filter) => {
        const where = condition(envId, filter)
        const found = reader<Run & { readonly text_bytes: number }>`
          SELECT ${reader.literal(columnsButResult)}, ${weighed(reader, "result")} FROM runs
          WHERE ${where} ORDER BY ${reader.literal(orderOf(filter))} LIMIT ${limit} OFFSET ${offset}`
        const whole = (ids: ReadonlyArray<RunId>) =>
          reader<Run>`SELECT ${columns} FROM runs WHERE env_id = ${envId} AND run_id IN (${dialect.texts(reader, ids)})`
        return Effect.all({
          items: Effect.flatMap(found, (rows) =>
            wholeRows(rows, "run_id", whole, ({ text_bytes, ...run }): Run => run)
          ),
          total: total(envId, filter)
        }).pipe(orUnavailable("list"))
      },

      stats: (envId, only) => {
        const filter = only === undefined ? {} : { only }
        // One statement, so that a run which ends meanwhile is counted once.
        const counts = reader<Count & { readonly status: RunStatus }>`
          SELECT status, sum(n) AS n FROM run_counts WHERE ${condition(envId, filter)} GROUP BY status
          UNION ALL SELECT 'running', count(*) FROM runs WHERE ${condition(envId, { ...filter, status: "running" })}`
        return counts.pipe(Effect.map(toStats), orUnavailable("stats"))
      },

      waiting: (limit) =>
        countOf(reader<Count>`SELECT count(*) AS n FROM (SELECT 1 FROM deliveries LIMIT ${limit}) AS counted`).pipe(
          orUnavailable("waiting")
        ),

      logs: (envId, id, { limit, offset }) =>
        reader<{ logs: string | null }>`SELECT logs FROM runs WHERE env_id = ${envId} AND run_id = ${id}`.pipe(
          Effect.map(([row]) => {
            const entries = row === undefined || row.logs === null ? [] : decodeLogs(row.logs)
            return { items: entries.slice(offset, offset + limit), total: entries.length }
          }),
          orUnavailable("logs")
        )
    })
  })
)

type Count = { readonly n: number | null }

const columnsButResult = `run_id, env_id, stream_id, project_id, project_name, build_id, ns, var, run_type, status,
  start_time, stop_time, origin_run_id, event_id, attempt, node_id, cpu_ms, wall_ms, heap_bytes`

/** The columns of a `Run`; those of its delivery and its logs are read where they are needed. */
export const runColumns = `${columnsButResult}, result`

const decodeLogs = Schema.decodeSync(Schema.fromJsonString(Schema.Array(LogEntry)))

/** Ids are made at about the time at which their runs start. */
const idMarginMs = 60_000

/** What a filter asks of a row, of `runs` or, without `since` and `eventId`, of `run_counts`. */
const conditionOf =
  (sql: SqlClient.SqlClient, dialect: Dialect) =>
  (envId: EnvId, { status, type, since, eventId, only }: RunFilter): Statement.Fragment => {
    const terms: Array<Statement.Fragment> = [sql`env_id = ${envId}`]
    if (status !== undefined) terms.push(sql.literal(statusTerms[status]))
    if (type !== undefined) terms.push(sql`run_type = ${type}`)
    if (since !== undefined) {
      // Ids tell the time, too, and are the index: no older ones are looked at.
      terms.push(sql`start_time >= ${since} AND run_id >= ${leastIdAt(RunId, since - idMarginMs)}`)
    }
    if (eventId !== undefined) terms.push(sql`event_id = ${eventId}`)
    if (only !== undefined) {
      const texts = dialect.texts(sql, only)
      terms.push(sql`(project_id IN (${texts}) OR project_name IN (${texts}))`)
    }
    return sql.and(terms)
  }

/**
 * Newest first. The few runs of an event are found by it and sorted then: in the plain order, a database that knows
 * nothing of how many rows there are goes through all runs of the environment.
 */
const orderOf = ({ eventId }: RunFilter): string => (eventId === undefined ? "run_id DESC" : "run_id || '' DESC")

/** Not as a parameter: the indexes of single states are found by the text. */
const statusTerms: Record<RunStatus, string> = {
  running: "status = 'running'",
  succeeded: "status = 'succeeded'",
  failed: "status = 'failed'",
  cancelled: "status = 'cancelled'"
}

const toStats = (rows: ReadonlyArray<Count & { readonly status: RunStatus }>) => {
  const stats = { running: 0, succeeded: 0, failed: 0, cancelled: 0 }
  for (const { status, n } of rows) stats[status] += n ?? 0
  return { total_runs: stats.running + stats.succeeded + stats.failed + stats.cancelled, ...stats }
}
