/**
 * Searches among the runs of an environment, newest first.
 *
 * One statement examines one step of candidates, and between the steps others use the thread and the connection. So the search
 * of a rare function among a million runs delays nobody by more than a step. The candidates are the runs of a state, or
 * all. The index `runs_search` has the fields that a run has from its start, in the order of the ids. It costs a stored run
 * about 1 µs on SQLite, because its entries are written side by side. An index that begins with the function costs up to 10 µs.
 */
import type { EnvId, PageRequest } from "@weft/core"
import {
  countedMax,
  errorMarks,
  errorSeparator,
  errorTextMax,
  leastIdAt,
  type Run,
  type RunFilter,
  RunId,
  type RunStatus,
  type Timestamp,
  toErrorPattern
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { type Database, readCount } from "./Database.ts"
import type { Dialect } from "./Dialect.ts"

/** Maximum difference between the time in a run's id and its start time, in milliseconds. */
const idMarginMs = 60_000

const leastIdSince = (since: Timestamp): RunId => leastIdAt(RunId, since - idMarginMs)

/** Returns the condition of a filter on `runs` or, if its runs are counted when they end, on `run_counts`. */
export const makeRunCondition =
  (sql: SqlClient.SqlClient, dialect: Dialect) =>
  (envId: EnvId, filter: RunFilter): Statement.Fragment => {
    const { status, type, since, eventId, waiting, only, project, fn, error, before } = filter
    // The columns of the index `runs_search` come first: the others of a row are read only if these match.
    const terms: Array<Statement.Fragment> = [sql`env_id = ${envId}`]
    if (fn !== undefined) terms.push(sql`var = ${fn.var} AND ns = ${fn.ns}`)
    if (project !== undefined) terms.push(sql`(project_id = ${project} OR project_name = ${project})`)
    if (only !== undefined) {
      const among = dialect.among(sql, only)
      terms.push(sql`(project_id ${among} OR project_name ${among})`)
    }
    if (type !== undefined) terms.push(sql`run_type = ${type}`)
    if (status !== undefined) terms.push(sql.literal(statusTerms[status]))
    if (since !== undefined) {
      // Ids contain their creation time and are indexed, so older rows are not read.
      terms.push(sql`start_time >= ${since} AND run_id >= ${leastIdSince(since)}`)
    }
    if (eventId !== undefined) terms.push(sql`event_id = ${eventId}`)
    if (waiting !== undefined) {
      // Literals, so that the planner matches the partial index of suspended runs.
      terms.push(sql.literal("status = 'running' AND waiting_for IS NOT NULL"))
      if (waiting !== "any") terms.push(sql`waiting_for = ${waiting}`)
    }
    if (error !== undefined) {
      const text = sql.literal(dialect.lowerAscii(errorText(dialect)))
      terms.push(sql`status = 'failed' AND ${text} LIKE ${toLikePattern(error)} ESCAPE '~'`)
    }
    if (before !== undefined) terms.push(sql`run_id < ${before}`)
    return sql.and(terms)
  }

/** Conditions as literals, so that the planner matches the partial indexes of states. */
const statusTerms: Record<RunStatus, string> = {
  running: "status = 'running'",
  succeeded: "status = 'succeeded'",
  failed: "status = 'failed'",
  cancelled: "status = 'cancelled'"
}

const quote = (text: string): string => `'${text}'`

/** SQL of the text that `readErrorText` returns, before the change of its case. */
const errorText = ({ position }: Dialect): string => {
  const text = `substr(result, ${errorMarks.name.length + 1}, ${errorTextMax})`
  const stack = quote(errorMarks.stack)
  const head = `substr(${text}, 1, ${position(`${text} || ${stack}`, stack)} - 1)`
  return `replace(${head}, ${quote(errorMarks.message)}, ${quote(errorSeparator)})`
}

/** A backslash is part of escape sequences of JSON, so another character escapes the wildcards. */
const toLikePattern = (error: string): string => `%${toErrorPattern(error).replace(/[%_~]/g, "~$&")}%`

/** True if the candidates of the filter are read in steps. Runs of an event, and those that wait, have indexes of their own. */
export const isSearch = ({ fn, error, before, project, eventId, waiting }: RunFilter): boolean =>
  eventId === undefined && waiting === undefined && [fn, error, before, project].some((field) => field !== undefined)

export interface FoundRuns {
  /** Ids of the page, newest first. */
  readonly ids: ReadonlyArray<RunId>
  readonly total: number
}

/** All runs of an index. */
interface Candidates {
  readonly state?: RunStatus
  readonly before?: RunId
  readonly since?: Timestamp
}

interface Plan {
  readonly by: Candidates
  /** Remaining conditions. */
  readonly rest: RunFilter
}

/** Returns a function that finds a page of runs. `total` is the number of runs that match, or null if it is not stored. */
export const makeRunSearch = ({ dialect, reader }: Database["Service"]) => {
  const condition = makeRunCondition(reader, dialect)

  const isCandidate = (envId: EnvId, { state, before, since }: Candidates) =>
    reader.and([
      condition(envId, {
        ...(state === undefined ? {} : { status: state }),
        ...(before === undefined ? {} : { before })
      }),
      ...(since === undefined ? [] : [reader`run_id >= ${leastIdSince(since)}`])
    ])

  /** Returns the last of the next candidates, or null if these are the rest. */
  const findLast = (envId: EnvId, by: Candidates) => {
    const rows = by.state === undefined ? dialect.searchRows.index : dialect.searchRows.table
    return Effect.map(
      reader<RunKey>`SELECT run_id FROM runs WHERE ${isCandidate(envId, by)}
        ORDER BY run_id DESC LIMIT 1 OFFSET ${rows - 1}`,
      ([row]) => row?.run_id ?? null
    )
  }

  /** Returns the candidates that match, down to the last one. */
  const findMatches = (envId: EnvId, { by, rest }: Plan, last: RunId | null) => {
    const index = by.state === undefined ? dialect.useIndex("runs_search") : ""
    const terms = [isCandidate(envId, by), condition(envId, rest)]
    if (last !== null) terms.push(reader`run_id >= ${last}`)
    return reader<RunKey>`SELECT run_id FROM runs${reader.literal(index)} WHERE ${reader.and(terms)} ORDER BY run_id DESC`
  }

  /** Counts candidates by their index alone, up to one more than `countedMax`. */
  const count = (envId: EnvId, by: Candidates) =>
    readCount(reader<{ readonly n: number }>`SELECT count(*) AS n FROM (
      SELECT 1 FROM runs WHERE ${isCandidate(envId, by)} LIMIT ${countedMax + 1}) AS counted`)

  const findAll = Effect.fnUntraced(function* (envId: EnvId, { limit, offset }: PageRequest, by: Candidates) {
    const found = yield* reader<RunKey>`SELECT run_id FROM runs WHERE ${isCandidate(envId, by)}
      ORDER BY run_id DESC LIMIT ${limit + 1} OFFSET ${offset}`
    const counted = yield* count(envId, by)
    const total = counted > countedMax ? Math.max(countedMax, offset + found.length) : counted
    return { ids: found.slice(0, limit).map(({ run_id }) => run_id), total }
  })

  return Effect.fnUntraced(function* (
    envId: EnvId,
    page: PageRequest,
    filter: RunFilter,
    total: number | null
  ): Effect.fn.Return<FoundRuns, SqlError.SqlError> {
    let plan = toPlan(filter)
    if (Object.keys(plan.rest).length === 0) return yield* findAll(envId, page, plan.by)
    const end = page.offset + page.limit
    const wanted = total === null ? Math.max(countedMax, end + 1) : Math.min(total, end)
    const ids: Array<RunId> = []
    let matches = 0
    while (matches < wanted) {
      const last: RunId | null = yield* findLast(envId, plan.by)
      const found = yield* findMatches(envId, plan, last)
      const place = Math.max(0, page.offset - matches)
      for (const { run_id } of found.slice(place, place + page.limit - ids.length)) ids.push(run_id)
      matches += found.length
      if (last === null) break
      plan = { ...plan, by: { ...plan.by, before: last } }
      yield* Effect.yieldNow
    }
    return { ids, total: total ?? Math.min(matches, wanted) }
  })
}

type RunKey = Pick<Run, "run_id">

/** States with an index. Most runs have the state `succeeded`. */
const indexedStates: ReadonlyArray<RunStatus | undefined> = ["running", "failed", "cancelled"]

const toPlan = ({ before, ...filter }: RunFilter): Plan => {
  const { status, ...others } = filter
  const range = {
    ...(before === undefined ? {} : { before }),
    ...(filter.since === undefined ? {} : { since: filter.since })
  }
  const state = filter.error === undefined ? status : "failed"
  return state !== undefined && indexedStates.includes(state)
    ? { by: { state, ...range }, rest: state === status ? others : filter }
    : { by: range, rest: filter }
}
