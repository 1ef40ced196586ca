/** Counts and latencies of ended runs by function and step. Pure. */
import { Schema } from "effect"
import { ProjectId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { LatencyHistogram } from "./LatencyHistogram.ts"
import { type MinuteCounts, minuteMs } from "./MinuteCounts.ts"

/** Percentiles of times in milliseconds, each within 5 % of the exact value. */
export const Percentiles = Schema.Struct({ p50_ms: Schema.Number, p95_ms: Schema.Number, p99_ms: Schema.Number })
export type Percentiles = typeof Percentiles.Type

/** Ended runs of a period. */
export const RunCounts = Schema.Struct({
  succeeded: Schema.Int,
  /** All failed runs, with those that another attempt follows. */
  failed: Schema.Int,
  cancelled: Schema.Int,
  /** Failed runs that another attempt follows. */
  retried: Schema.Int,
  /** Times from the event, or from the due time of a later attempt, to the start; null if no run waited. */
  wait: Schema.NullOr(Percentiles),
  /** Times from the start to the end of succeeded and failed runs; null without one. */
  duration: Schema.NullOr(Percentiles)
})
export type RunCounts = typeof RunCounts.Type

export const SeriesPoint = Schema.Struct({ time: Timestamp, ...RunCounts.fields })

export const FunctionSeries = Schema.Struct({
  /** Null for the series that sums all functions without one of their own. */
  project_id: Schema.NullOr(ProjectId),
  project_name: Schema.NullOr(Schema.String),
  ns: Schema.NullOr(Schema.String),
  var: Schema.NullOr(Schema.String),
  /** The whole period. */
  total: RunCounts,
  /** Steps in which runs ended or started, in their order. */
  points: Schema.Array(SeriesPoint)
})
export type FunctionSeries = typeof FunctionSeries.Type

export const RunSeries = Schema.Struct({
  from: Timestamp,
  to: Timestamp,
  step_seconds: Schema.Int,
  /** The functions with the most ended runs first. */
  series: Schema.Array(FunctionSeries)
})
export type RunSeries = typeof RunSeries.Type

/** Maximum steps of a period. */
export const stepsMax = 1500

/** Maximum functions with a series of their own. */
const functionsMax = 20

/** Longest step in milliseconds. */
export const stepMaxMs = 24 * 3_600_000

const defaultSteps = [1, 5, 15, 60, 360, 1440].map((minutes) => minutes * minuteMs)

/** Returns the shortest usual step of which a period has at most 240. */
export const defaultStepMs = (periodMs: number): number =>
  defaultSteps.find((step) => periodMs / step <= 240) ?? stepMaxMs

/** Maximum points that a group may have: functions times steps. Bounds its memory. */
export const pointsMax = 30_000

/** Sums of runs that can be added to. */
export class CountSums {
  succeeded = 0
  failed = 0
  cancelled = 0
  retried = 0
  readonly wait = new LatencyHistogram()
  readonly duration = new LatencyHistogram()

  add(row: MinuteCounts): void {
    this.#count(row)
    this.wait.merge(row.wait)
    this.duration.merge(row.duration)
  }

  addAll(sums: CountSums): void {
    this.#count(sums)
    this.wait.addAll(sums.wait)
    this.duration.addAll(sums.duration)
  }

  get ended(): number {
    return this.succeeded + this.failed + this.cancelled
  }

  get counts(): RunCounts {
    const { succeeded, failed, cancelled, retried, wait, duration } = this
    return { succeeded, failed, cancelled, retried, wait: toPercentiles(wait), duration: toPercentiles(duration) }
  }

  #count({ succeeded, failed, cancelled, retried }: Omit<MinuteCounts | CountSums, "wait" | "duration">): void {
    this.succeeded += succeeded
    this.failed += failed
    this.cancelled += cancelled
    this.retried += retried
  }
}

const toPercentiles = (times: LatencyHistogram): Percentiles | null => {
  const [p50_ms, p95_ms, p99_ms] = [times.percentile(0.5), times.percentile(0.95), times.percentile(0.99)]
  return p50_ms === null || p95_ms === null || p99_ms === null ? null : { p50_ms, p95_ms, p99_ms }
}

type Names = Pick<FunctionSeries, "project_id" | "project_name" | "ns" | "var">

/** Sums by the start of their step. */
type Steps = Map<number, CountSums>

/** Groups rows of several nodes by function and step. */
export class SeriesGroups {
  readonly #stepMs: number
  readonly #functions = new Map<string, { names: Names; readonly steps: Steps }>()
  #points = 0

  constructor(stepMs: number) {
    this.#stepMs = stepMs
  }

  get points(): number {
    return this.#points
  }

  /** Adds rows in the order of their time. */
  add(rows: ReadonlyArray<MinuteCounts>): void {
    for (const row of rows) {
      const { project_id, project_name, ns, var: name } = row
      const key = project_id === null ? "" : `${project_id} ${ns}/${name}`
      const fn = this.#functions.get(key) ?? { names: noNames, steps: new Map() }
      this.#functions.set(key, fn)
      if (project_id !== null) fn.names = { project_id, project_name, ns, var: name }
      const before = fn.steps.size
      stepOf(fn.steps, row.at - (row.at % this.#stepMs)).add(row)
      this.#points += fn.steps.size - before
    }
  }

  /** Returns the series of the functions with the most runs, and last the sum of the others, if there are any. */
  build(): ReadonlyArray<FunctionSeries> {
    const all = [...this.#functions.values()]
      .map(({ names, steps }) => ({ names, steps, total: sumOf(steps.values()) }))
      .sort((a, b) => Number(a.names === noNames) - Number(b.names === noNames) || b.total.ended - a.total.ended)
    const isOwn = ({ names }: { readonly names: Names }, index: number) => index < functionsMax && names !== noNames
    const others: Steps = new Map()
    for (const { steps } of all.filter((fn, index) => !isOwn(fn, index)))
      for (const [start, sums] of steps) stepOf(others, start).addAll(sums)
    const rest = others.size === 0 ? [] : [{ names: noNames, steps: others, total: sumOf(others.values()) }]
    return [...all.filter(isOwn), ...rest].map(({ names, steps, total }) => ({
      ...names,
      total: total.counts,
      points: [...steps]
        .sort(([a], [b]) => a - b)
        .map(([start, sums]) => ({ time: Timestamp.make(start), ...sums.counts }))
    }))
  }
}

const stepOf = (steps: Steps, start: number): CountSums => {
  const known = steps.get(start)
  if (known !== undefined) return known
  const sums = new CountSums()
  steps.set(start, sums)
  return sums
}

const sumOf = (all: Iterable<CountSums>): CountSums => {
  const sum = new CountSums()
  for (const sums of all) sum.addAll(sums)
  return sum
}

const noNames: Names = { project_id: null, project_name: null, ns: null, var: null }
