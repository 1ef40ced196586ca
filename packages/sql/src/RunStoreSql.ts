/** `RunStore` on SQL. */
import { type EnvId, NotFound, type PageRequest } from "@weft/core"
import { type Run, type RunFilter, type RunId, type RunStatus, RunStore, type RunSummary } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Database, onlyRow, orUnavailable, readCount } from "./Database.ts"
import { loadLargeTexts, textIfSmall } from "./LargeTexts.ts"
import { isSearch, makeRunCondition, makeRunSearch } from "./RunSearch.ts"
import { columnsButResult, parseLogs, runColumns } from "./rows/RunRows.ts"

export const layer: Layer.Layer<RunStore, never, Database> = Layer.effect(
  RunStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, reader } = database
    const columns = reader.literal(runColumns)
    const condition = makeRunCondition(reader, dialect)
    const search = makeRunSearch(database)

    const total = (envId: EnvId, filter: RunFilter) => {
      const where = condition(envId, filter)
      if (!isCounted(filter) || filter.status === "running") {
        return readCount(reader<Count>`SELECT count(*) AS n FROM runs WHERE ${where}`)
      }
      const over = reader<Count>`SELECT sum(n) AS n FROM run_counts WHERE ${where}`
      if (filter.status !== undefined) return readCount(over)
      const running = condition(envId, { ...filter, status: "running" })
      return readCount(reader<Count>`SELECT sum(n) AS n FROM (
        ${over} UNION ALL SELECT count(*) FROM runs WHERE ${running}) AS counts`)
    }

    /** Selects runs for a page, without large results. */
    const select = reader.literal(columnsButResult)
    const result = textIfSmall(reader, "result")

    const load = (envId: EnvId, found: Effect.Effect<ReadonlyArray<Found>, SqlError.SqlError>) => {
      const whole = (ids: ReadonlyArray<RunId>) =>
        reader<Run>`SELECT ${columns} FROM runs WHERE env_id = ${envId} AND run_id ${dialect.among(reader, ids)}`
      return Effect.flatMap(found, (rows) =>
        loadLargeTexts(rows, "run_id", whole, ({ text_bytes, ...run }): Run => run)
      )
    }

    const listed = (envId: EnvId, { limit, offset }: PageRequest, filter: RunFilter) => {
      const found = reader<Found>`SELECT ${select}, ${result} FROM runs WHERE ${condition(envId, filter)}
        ORDER BY ${reader.literal(toOrder(filter))} LIMIT ${limit} OFFSET ${offset}`
      return Effect.all({ items: load(envId, found), total: total(envId, filter) })
    }

    const searched = Effect.fnUntraced(function* (envId: EnvId, page: PageRequest, filter: RunFilter) {
      const known = isCounted(filter) ? yield* total(envId, filter) : null
      const { ids, total: counted } = yield* search(envId, page, filter, known)
      const found = reader<Found>`SELECT ${select}, ${result} FROM runs
        WHERE env_id = ${envId} AND run_id ${dialect.among(reader, ids)} ORDER BY run_id DESC`
      return { items: ids.length === 0 ? [] : yield* load(envId, found), total: counted }
    })

    return RunStore.of({
      get: (envId, id) =>
        onlyRow(
          reader<Run>`SELECT ${columns} FROM runs WHERE env_id = ${envId} AND run_id = ${id}`,
          new NotFound({ resource: "run" })
        ).pipe(orUnavailable("get")),

      list: (envId, page, filter) =>
        (isSearch(filter) ? searched(envId, page, filter) : listed(envId, page, filter)).pipe(orUnavailable("list")),

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

type Found = Run & { readonly text_bytes: number }

type Count = { readonly n: number | null }

/** True if ended runs are counted by the fields of the filter. */
const isCounted = ({ since, eventId, waiting, fn, error, before }: RunFilter): boolean =>
  [since, eventId, waiting, fn, error, before].every((field) => field === undefined)

/**
 * Returns the sort order, newest first. The few runs of an event are found by the event's index and then sorted. With a
 * plain order, a planner without statistics would scan all runs of the environment.
 */
const toOrder = ({ eventId }: RunFilter): string => (eventId === undefined ? "run_id DESC" : "run_id || '' DESC")

const toStats = (rows: ReadonlyArray<Count & { readonly status: RunStatus }>) => {
  const stats = { running: 0, succeeded: 0, failed: 0, cancelled: 0 }
  for (const { status, n } of rows) stats[status] += n ?? 0
  return { total_runs: stats.running + stats.succeeded + stats.failed + stats.cancelled, ...stats }
}
