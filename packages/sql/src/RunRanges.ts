/**
 * The runs of functions, by the index `runs_of_function`: (env_id, project_id, var, ns, run_id).
 *
 * The runs of one function of one project are a range of the index in the order of their ids. Those of a function in all
 * projects, or of all functions of a project, are a few ranges, which a query merges.
 */
import type { EnvId, PageRequest } from "@weft/core"
import { countedMax, type RunFilter, type RunId } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type Database, readCount } from "./Database.ts"

/** A function of a project. */
export interface FunctionRange {
  readonly project_id: string
  readonly var: string
  readonly ns: string
}

/** Bounds of the ids: less than `before`, and at least `from`. */
export interface IdBounds {
  readonly before?: RunId
  readonly from?: RunId
}

/** Maximum ranges of a query. With more functions than that, a project is not rare among the runs. */
const rangesMax = 100

export const makeRunRanges = ({ dialect, reader: sql }: Database["Service"]) => {
  const index = sql.literal(dialect.useIndex("runs_of_function"))
  const running = sql.literal(dialect.useIndex("runs_running"))

  /** Returns the ids of projects with this id, or with this name now or in one of their runs. */
  const projectsOf = (envId: EnvId, project: string) => {
    const named = sql`env_id = ${envId} AND (project_id = ${project} OR project_name = ${project})`
    return sql<{ readonly project_id: string }>`SELECT project_id FROM run_counts WHERE ${named}
      UNION SELECT project_id FROM runs${running} WHERE ${named} AND status = 'running'`
  }

  /** Returns the ids of projects with runs. Each is one search in the index, whatever the number of runs. */
  const allProjects = (envId: EnvId) =>
    collect<{ readonly project_id: string }>(
      (last) => sql<{
        readonly project_id: string
      }>`SELECT project_id FROM runs${index} WHERE env_id = ${envId} AND project_id > ${last?.project_id ?? ""}
        ORDER BY project_id LIMIT 1`
    )

  const functionsOf = (envId: EnvId, project_id: string) =>
    collect<FunctionRange>(
      (
        last
      ) => sql<FunctionRange>`SELECT project_id, var, ns FROM runs${index} WHERE env_id = ${envId} AND project_id = ${project_id}
        AND (var, ns) > (${last?.var ?? ""}, ${last?.ns ?? ""}) ORDER BY var, ns LIMIT 1`
    )

  const ids = (
    envId: EnvId,
    { project_id, var: name, ns }: FunctionRange,
    { before, from }: IdBounds,
    limit: number
  ) => {
    const terms = [sql`env_id = ${envId} AND project_id = ${project_id} AND var = ${name} AND ns = ${ns}`]
    if (before !== undefined) terms.push(sql`run_id < ${before}`)
    if (from !== undefined) terms.push(sql`run_id >= ${from}`)
    return sql`SELECT run_id FROM (
      SELECT run_id FROM runs${index} WHERE ${sql.and(terms)} ORDER BY run_id DESC LIMIT ${limit}) AS ids`
  }

  const merge = (envId: EnvId, ranges: ReadonlyArray<FunctionRange>, bounds: IdBounds, limit: number) =>
    sql.join(" UNION ALL ", false)(ranges.map((range) => ids(envId, range, bounds, limit)))

  return {
    /** Returns the ranges of a function, of a project or of both; null if they are too many. */
    find: Effect.fnUntraced(function* (
      envId: EnvId,
      { fn, project }: RunFilter
    ): Effect.fn.Return<ReadonlyArray<FunctionRange> | null, SqlError.SqlError> {
      const projects = yield* project === undefined ? allProjects(envId) : projectsOf(envId, project)
      if (projects === null) return null
      if (fn !== undefined) return projects.length > rangesMax ? null : projects.map((each) => ({ ...each, ...fn }))
      const ranges: Array<FunctionRange> = []
      for (const { project_id } of projects) {
        const functions = yield* functionsOf(envId, project_id)
        if (functions === null || ranges.length + functions.length > rangesMax) return null
        ranges.push(...functions)
      }
      return ranges
    }),

    /** Lists ids, newest first. */
    list: (envId: EnvId, ranges: ReadonlyArray<FunctionRange>, bounds: IdBounds, { limit, offset }: PageRequest) =>
      sql<{ readonly run_id: RunId }>`SELECT run_id FROM (${merge(envId, ranges, bounds, offset + limit)}) AS merged
        ORDER BY run_id DESC LIMIT ${limit} OFFSET ${offset}`,

    /** Counts ids; the result is more than `countedMax` if there are more. */
    count: (envId: EnvId, ranges: ReadonlyArray<FunctionRange>, bounds: IdBounds) =>
      readCount(
        sql<{
          readonly n: number
        }>`SELECT count(*) AS n FROM (${merge(envId, ranges, bounds, countedMax + 1)}) AS merged`
      )
  }
}

/** Collects the rows that a query returns one after the other; null if they are too many. */
const collect = Effect.fnUntraced(function* <Row>(
  next: (last: Row | undefined) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
): Effect.fn.Return<ReadonlyArray<Row> | null, SqlError.SqlError> {
  const rows: Array<Row> = []
  while (rows.length <= rangesMax) {
    const [row] = yield* next(rows.at(-1))
    if (row === undefined) return rows
    rows.push(row)
  }
  return null
})
