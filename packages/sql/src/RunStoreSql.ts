/** `RunStore` on SQL. */
import { type EnvId, NotFound } from "@weft/core"
import {
  leastIdAt,
  type Run,
  type RunFilter,
  RunId,
  type RunStatus,
  RunStore,
  type RunSummary
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Database, onlyRow, orUnavailable, readCount } from "./Database.ts"
import type { Dialect } from "./Dialect.ts"
import { loadLargeTexts, textIfSmall } from "./LargeTexts.ts"
import { columnsButResult, parseLogs, runColumns } from "./rows/RunRows.ts"

export const layer: Layer.Layer<RunStore, never, Database> = Layer.effect(
  RunStore,
  Effect.gen(function* () {
    const { dialect, reader } = yield* Database
    const columns = reader.literal(runColumns)
    const condition = makeRunCondition(reader, dialect)

    const total = (envId: EnvId, filter: RunFilter) => {
      const where = condition(envId, filter)
      if (
        filter.since !== undefined ||
        filter.eventId !== undefined ||
        filter.waiting !== undefined ||
        filter.status === "running"
      ) {
        return readCount(reader<Count>`SELECT count(*) AS n FROM runs WHERE ${where}`)
      }
      const over = reader<Count>`SELECT sum(n) AS n FROM run_counts WHERE ${where}`
      if (filter.status !== undefined) return readCount(over)
      const running = condition(envId, { ...filter, status: "running" })
      return readCount(reader<Count>`SELECT sum(n) AS n FROM (
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
          SELECT ${reader.literal(columnsButResult)}, ${textIfSmall(reader, "result")} FROM runs
          WHERE ${where} ORDER BY ${reader.literal(toOrder(filter))} LIMIT ${limit} OFFSET ${offset}`
        const whole = (ids: ReadonlyArray<RunId>) =>
          reader<Run>`SELECT ${columns} FROM runs WHERE env_id = ${envId} AND run_id ${dialect.among(reader, ids)}`
        return Effect.all({
          items: Effect.flatMap(found, (rows) =>
            loadLargeTexts(rows, "run_id", whole, ({ text_bytes, ...run }): Run => run)
          ),
          total: total(envId, filter)
        }).pipe(orUnavailable("list"))
      },

      recent: (envId, since, limit, only) =>
        reader<RunSummary>`
          SELECT ${reader.literal(summaryColumns)} FROM runs
          WHERE ${condition(envId, { since, ...(only === undefined ? {} : { only }) })}
          ORDER BY run_id DESC LIMIT ${limit}`.pipe(orUnavailable("recent")),

      replays: ({ env_id, event_id, run_id }, limit) =>
        reader<Pick<Run, "run_id">>`
          SELECT run_id FROM runs
          WHERE env_id = ${env_id} AND event_id = ${event_id} AND origin_run_id = ${run_id} AND run_type = 'run'
            AND attempt = 1
          ORDER BY run_id DESC LIMIT ${limit}`.pipe(
          Effect.map((rows) => rows.map((row) => row.run_id)),
          orUnavailable("replays")
        ),

      stats: (envId, only) => {
        const filter = only === undefined ? {} : { only }
        // One statement, so that a run that ends meanwhile is counted once.
        const counts = reader<Count & { readonly status: RunStatus }>`
          SELECT status, sum(n) AS n FROM run_counts WHERE ${condition(envId, filter)} GROUP BY status
          UNION ALL SELECT 'running', count(*) FROM runs WHERE ${condition(envId, { ...filter, status: "running" })}`
        return counts.pipe(Effect.map(toStats), orUnavailable("stats"))
      },

      waiting: (limit) =>
        readCount(reader<Count>`SELECT count(*) AS n FROM (SELECT 1 FROM deliveries LIMIT ${limit}) AS counted`).pipe(
          orUnavailable("waiting")
        ),

      logs: (envId, id, { limit, offset }) =>
        reader<{ logs: string | null }>`SELECT logs FROM runs WHERE env_id = ${envId} AND run_id = ${id}`.pipe(
          Effect.map(([row]) => {
            const entries = parseLogs(row?.logs ?? null)
            return { items: entries.slice(offset, offset + limit), total: entries.length }
          }),
          orUnavailable("logs")
        )
    })
  })
)

const summaryColumns = "run_id, project_id, project_name, ns, var, status, start_time, stop_time"

type Count = { readonly n: number | null }

/** Maximum difference between the time in a run's id and its start time, in milliseconds. */
const idMarginMs = 60_000

/** Returns the condition of a filter on `runs` or, without `since`, `eventId` and `waiting`, on `run_counts`. */
export const makeRunCondition =
  (sql: SqlClient.SqlClient, dialect: Dialect) =>
  (envId: EnvId, { status, type, since, eventId, waiting, only }: RunFilter): Statement.Fragment => {
    const terms: Array<Statement.Fragment> = [sql`env_id = ${envId}`]
    if (status !== undefined) terms.push(sql.literal(statusTerms[status]))
    if (type !== undefined) terms.push(sql`run_type = ${type}`)
    if (since !== undefined) {
      // Ids contain their creation time and are indexed, so older rows are not read.
      terms.push(sql`start_time >= ${since} AND run_id >= ${leastIdAt(RunId, since - idMarginMs)}`)
    }
    if (eventId !== undefined) terms.push(sql`event_id = ${eventId}`)
    if (waiting !== undefined) {
      // Literals, so that the planner matches the partial index of suspended runs.
      terms.push(sql.literal("status = 'running' AND waiting_for IS NOT NULL"))
      if (waiting !== "any") terms.push(sql`waiting_for = ${waiting}`)
    }
    if (only !== undefined) {
      const among = dialect.among(sql, only)
      terms.push(sql`(project_id ${among} OR project_name ${among})`)
    }
    return sql.and(terms)
  }

/**
 * Returns the sort order, newest first. The few runs of an event are found by the event's index and then sorted. With a
 * plain order, a planner without statistics would scan all runs of the environment.
 */
const toOrder = ({ eventId }: RunFilter): string => (eventId === undefined ? "run_id DESC" : "run_id || '' DESC")

/** Conditions as literals, so that the planner matches the partial indexes of states. */
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
