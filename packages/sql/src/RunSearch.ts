/**
 * Searches among the runs of an environment, newest first.
 *
 * An index leads to the candidates: the runs of a function or of a project, those of a state, or all. Other conditions are
 * evaluated for one step of candidates per statement, and between the steps others use the thread and the connection. So the
 * search of a rare text among a million runs delays nobody by more than a step.
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
import { type FunctionRange, type IdBounds, makeRunRanges } from "./RunRanges.ts"

/** Maximum difference between the time in a run's id and its start time, in milliseconds. */
const idMarginMs = 60_000

const leastIdSince = (since: Timestamp): RunId => leastIdAt(RunId, since - idMarginMs)

/** Returns the condition of a filter on `runs` or, if its runs are counted when they end, on `run_counts`. */
export const makeRunCondition =
  (sql: SqlClient.SqlClient, dialect: Dialect) =>
  (envId: EnvId, filter: RunFilter): Statement.Fragment => {
    const { status, type, since, eventId, inBatches, waiting, only, project, fn, error, before } = filter
    // Columns that indexes of searches have come first: the others of a row are read only if these match.
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
    if (eventId !== undefined && inBatches === true) {
      terms.push(sql`event_id IN (SELECT ${eventId} UNION ALL
        SELECT first_event_id FROM batch_events WHERE env_id = ${envId} AND event_id = ${eventId})
        AND (event_id = ${eventId} OR event_ids LIKE ${`%"${eventId}"%`})`)
    } else if (eventId !== undefined) terms.push(sql`event_id = ${eventId}`)
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

/** SQL of the text that `readErrorText` returns, before the change of its case. The index `runs_errors` has it as a column. */
export const errorText = ({ position }: Dialect): string => {
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

/** All runs of a function or of a project, of a state, or of the environment, in the order of ids. */
interface Plan {
  readonly ranges: ReadonlyArray<FunctionRange> | null
  readonly state?: RunStatus
  readonly bounds: IdBounds
  /** Remaining conditions. */
  readonly rest: RunFilter
}

/** Candidates of a step that match, and the last candidate, or null if no more follow. */
interface Step {
  readonly found: ReadonlyArray<RunKey>
  readonly last: RunId | null
}

/** Returns a function that finds a page of runs. `total` is the number of runs that match, or null if it is not stored. */
export const makeRunSearch = (database: Database["Service"]) => {
  const { dialect, reader } = database
  const condition = makeRunCondition(reader, dialect)
  const functions = makeRunRanges(database)

  const isCandidate = (envId: EnvId, { state, bounds: { before, from } }: Plan) =>
    reader.and([
      condition(envId, {
        ...(state === undefined ? {} : { status: state }),
        ...(before === undefined ? {} : { before })
      }),
      ...(from === undefined ? [] : [reader`run_id >= ${from}`])
    ])

  /** Examines the next runs of functions. */
  const examineRanges = Effect.fnUntraced(function* (
    envId: EnvId,
    ranges: ReadonlyArray<FunctionRange>,
    plan: Plan,
    wanted: number
  ) {
    const limit = Math.min(dialect.searchRows.table, Math.max(stepMin, wanted))
    const ids = (yield* functions.list(envId, ranges, plan.bounds, { limit, offset: 0 })).map(({ run_id }) => run_id)
    const found = yield* reader<RunKey>`SELECT run_id FROM runs
      WHERE ${condition(envId, plan.rest)} AND run_id ${dialect.among(reader, ids)} ORDER BY run_id DESC`
    return { found, last: ids.length < limit ? null : (ids.at(-1) ?? null) } satisfies Step
  })

  /** Examines the next runs of a state or of the environment. */
  const examineAll = Effect.fnUntraced(function* (envId: EnvId, plan: Plan) {
    const isFailed = plan.state === "failed"
    const rows = isFailed ? dialect.searchRows.failed : dialect.searchRows.table
    const [end] = yield* reader<RunKey>`SELECT run_id FROM runs WHERE ${isCandidate(envId, plan)}
      ORDER BY run_id DESC LIMIT 1 OFFSET ${rows - 1}`
    const last = end?.run_id ?? null
    const index = isFailed ? dialect.useIndex("runs_errors") : ""
    const terms = [isCandidate(envId, plan), condition(envId, plan.rest)]
    if (last !== null) terms.push(reader`run_id >= ${last}`)
    const found = yield* reader<RunKey>`SELECT run_id FROM runs${reader.literal(index)} WHERE ${reader.and(terms)}
      ORDER BY run_id DESC`
    return { found, last } satisfies Step
  })

  /** Counts candidates by their index alone, up to one more than `countedMax`. */
  const count = (envId: EnvId, plan: Plan) =>
    plan.ranges === null
      ? readCount(reader<{ readonly n: number }>`SELECT count(*) AS n FROM (
          SELECT 1 FROM runs WHERE ${isCandidate(envId, plan)} LIMIT ${countedMax + 1}) AS counted`)
      : functions.count(envId, plan.ranges, plan.bounds)

  /** Finds the page without other conditions. */
  const findAll = Effect.fnUntraced(function* (
    envId: EnvId,
    { limit, offset }: PageRequest,
    plan: Plan,
    total: number | null
  ) {
    const page = { limit: limit + 1, offset }
    const found = yield* plan.ranges === null
      ? reader<RunKey>`SELECT run_id FROM runs WHERE ${isCandidate(envId, plan)}
          ORDER BY run_id DESC LIMIT ${page.limit} OFFSET ${offset}`
      : functions.list(envId, plan.ranges, plan.bounds, page)
    const counted = total ?? (yield* count(envId, plan))
    const atLeast = Math.max(countedMax, offset + found.length)
    const ids = found.slice(0, limit).map(({ run_id }) => run_id)
    return { ids, total: total === null && counted > countedMax ? atLeast : counted }
  })

  /** Returns the plan with fewer candidates: the runs of a function or a project, or those of a state. */
  const choosePlan = Effect.fnUntraced(function* (envId: EnvId, filter: RunFilter) {
    const byState = planByState(filter)
    if (filter.fn === undefined && filter.project === undefined) return byState
    const ranges = yield* functions.find(envId, filter)
    if (ranges === null) return byState
    const byFunction = planByFunction(filter, ranges)
    if (byState.state === undefined || ranges.length === 0) return byFunction
    return (yield* count(envId, byFunction)) <= countedMax ? byFunction : byState
  })

  return Effect.fnUntraced(function* (
    envId: EnvId,
    page: PageRequest,
    filter: RunFilter,
    total: number | null
  ): Effect.fn.Return<FoundRuns, SqlError.SqlError> {
    if (total === 0) return { ids: [], total }
    let plan = yield* choosePlan(envId, filter)
    if (plan.ranges?.length === 0) return { ids: [], total: 0 }
    if (Object.keys(plan.rest).length === 0) return yield* findAll(envId, page, plan, total)
    const end = page.offset + page.limit
    const wanted = total === null ? Math.max(countedMax, end + 1) : Math.min(total, end)
    const ids: Array<RunId> = []
    let matches = 0
    while (matches < wanted) {
      const step: Step = yield* plan.ranges === null
        ? examineAll(envId, plan)
        : examineRanges(envId, plan.ranges, plan, wanted - matches)
      const place = Math.max(0, page.offset - matches)
      for (const { run_id } of step.found.slice(place, place + page.limit - ids.length)) ids.push(run_id)
      matches += step.found.length
      if (step.last === null) break
      plan = { ...plan, bounds: { ...plan.bounds, before: step.last } }
      yield* Effect.yieldNow
    }
    return { ids, total: total ?? Math.min(matches, wanted) }
  })
}

/** Minimum candidates of a step. Most of them match. */
const stepMin = 100

type RunKey = Pick<Run, "run_id">

/** States with an index. Most runs have the state `succeeded`. */
const indexedStates: ReadonlyArray<RunStatus | undefined> = ["running", "failed", "cancelled"]

const planByFunction = ({ before, fn: _, ...filter }: RunFilter, ranges: ReadonlyArray<FunctionRange>): Plan => {
  const { project, ...others } = filter
  // A name is that of only some runs of a project.
  const isExact = project === undefined || ranges.every(({ project_id }) => project_id === project)
  return { ranges, bounds: toBounds(before, filter.since), rest: isExact ? others : filter }
}

const planByState = ({ before, ...filter }: RunFilter): Plan => {
  const { status, ...others } = filter
  const bounds = toBounds(before, filter.since)
  const state = filter.error === undefined ? status : "failed"
  return state !== undefined && indexedStates.includes(state)
    ? { ranges: null, state, bounds, rest: state === status ? others : filter }
    : { ranges: null, bounds, rest: filter }
}

const toBounds = (before: RunId | undefined, since: Timestamp | undefined): IdBounds => ({
  ...(before === undefined ? {} : { before }),
  ...(since === undefined ? {} : { from: leastIdSince(since) })
})
