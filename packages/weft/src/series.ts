/** Counts and latencies of runs over time, for hosts. */
import type { WeftEnv } from "@weft/core"
import { Timestamp } from "@weft/core/adapter"

/** Selects counts of runs. Without `project` and `fn`, those of all functions. */
export interface SeriesQuery {
  /** Id or name of a project. */
  readonly project?: string
  /** `ns/var` with `project`, or `project:ns/var`. */
  readonly fn?: string
  /** One hour before `to` by default. */
  readonly from?: Date
  /** Now by default. */
  readonly to?: Date
  /** Whole minutes, at most a day; by default, the period has at most 240 steps. */
  readonly stepMs?: number
}

/** Percentiles of times in milliseconds, each within 5 % of the exact value. */
export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** Ended runs of a period. */
export interface RunCounts {
  readonly succeeded: number
  /** All failed runs, with those that another attempt follows. */
  readonly failed: number
  readonly cancelled: number
  /** Failed runs that another attempt follows. */
  readonly retried: number
  /** Times from the event, or from the due time of a later attempt, to the start; null if no run waited. */
  readonly waitMs: Percentiles | null
  /** Times from the start to the end of succeeded and failed runs; null without one. */
  readonly durationMs: Percentiles | null
}

export interface RunSeries {
  readonly from: Date
  readonly to: Date
  readonly stepSeconds: number
  /** Of the 20 functions with the most ended runs, and last the sum of the others, whose names are null. */
  readonly series: ReadonlyArray<{
    readonly projectId: string | null
    readonly projectName: string | null
    readonly ns: string | null
    readonly var: string | null
    readonly total: RunCounts
    /** Steps in which runs started or ended, in their order. */
    readonly points: ReadonlyArray<RunCounts & { readonly time: Date }>
  }>
}

type SeriesQueryInput = NonNullable<Parameters<WeftEnv["runs"]["series"]>[0]>
export const toSeriesQuery = ({ from, to, ...query }: SeriesQuery = {}): SeriesQueryInput => ({
  ...query,
  ...(from === undefined ? {} : { from: toTimestamp(from) }),
  ...(to === undefined ? {} : { to: toTimestamp(to) })
})

const toTimestamp = (date: Date) => Timestamp.make(date.getTime())

type SeriesRow = Awaited<ReturnType<WeftEnv["runs"]["series"]>>
type CountsRow = SeriesRow["series"][number]["total"]

export const toRunSeries = (row: SeriesRow): RunSeries => ({
  from: new Date(row.from),
  to: new Date(row.to),
  stepSeconds: row.step_seconds,
  series: row.series.map((fn) => ({
    projectId: fn.project_id,
    projectName: fn.project_name,
    ns: fn.ns,
    var: fn.var,
    total: toRunCounts(fn.total),
    points: fn.points.map((point) => ({ time: new Date(point.time), ...toRunCounts(point) }))
  }))
})

const toRunCounts = ({ succeeded, failed, cancelled, retried, wait, duration }: CountsRow): RunCounts => ({
  ...{ succeeded, failed, cancelled, retried },
  waitMs: toPercentiles(wait),
  durationMs: toPercentiles(duration)
})

const toPercentiles = (row: CountsRow["wait"]): Percentiles | null =>
  row === null ? null : { p50: row.p50_ms, p95: row.p95_ms, p99: row.p99_ms }
