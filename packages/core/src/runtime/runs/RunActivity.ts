/** Recent runs of an environment in numbers: per minute, their durations, and the functions that failed. */
import { Schema } from "effect"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { Run } from "./Run.ts"

/** The part of a run that is counted. */
export type RunSummary = Pick<
  Run,
  "run_id" | "project_id" | "project_name" | "ns" | "var" | "status" | "start_time" | "stop_time"
>

/** Ended runs by outcome. */
const outcomes = { succeeded: Schema.Int, failed: Schema.Int, cancelled: Schema.Int }

export const RunActivity = Schema.Struct({
  /** Start of the period. */
  since: Timestamp,
  /** False if the environment has more runs than were counted. The period is then shorter than requested. */
  complete: Schema.Boolean,
  /** Minutes in which runs ended, in their order. */
  minutes: Schema.Array(Schema.Struct({ time: Timestamp, ...outcomes })),
  /** Duration that half of the ended runs did not exceed, in milliseconds; null without an ended run. */
  p50_ms: Schema.NullOr(Schema.Number),
  /** Duration that 95 % of the ended runs did not exceed, in milliseconds; null without an ended run. */
  p95_ms: Schema.NullOr(Schema.Number),
  /** Functions with failed runs, the most failures first; at most 20. */
  failures: Schema.Array(
    Schema.Struct({
      project_id: Run.fields.project_id,
      project_name: Run.fields.project_name,
      ns: Run.fields.ns,
      var: Run.fields.var,
      failed: Schema.Int,
      /** The failed run that started last. */
      run_id: Run.fields.run_id
    })
  )
})
export type RunActivity = typeof RunActivity.Type

/** Maximum runs that are counted. A query of so many takes a few milliseconds. */
export const countedRunsMax = 5000

const failuresMax = 20
const minuteMs = 60_000

/** Counts runs, which are sorted by their start, newest first. */
export const toActivity = (runs: ReadonlyArray<RunSummary>, requested: Timestamp, complete: boolean): RunActivity => {
  const since = complete ? requested : (runs.at(-1)?.start_time ?? requested)
  const durations = runs
    .flatMap(({ start_time, stop_time }) => (stop_time === null ? [] : [stop_time - start_time]))
    .sort((a, b) => a - b)
  return {
    since,
    complete,
    minutes: countMinutes(runs),
    p50_ms: percentile(durations, 0.5),
    p95_ms: percentile(durations, 0.95),
    failures: countFailures(runs)
  }
}

const countMinutes = (runs: ReadonlyArray<RunSummary>): RunActivity["minutes"] => {
  const minutes = new Map<number, { succeeded: number; failed: number; cancelled: number }>()
  for (const { status, stop_time } of runs) {
    if (stop_time === null || status === "running") continue
    const minute = Math.floor(stop_time / minuteMs) * minuteMs
    const counts = minutes.get(minute) ?? { succeeded: 0, failed: 0, cancelled: 0 }
    counts[status]++
    minutes.set(minute, counts)
  }
  return [...minutes].sort(([a], [b]) => a - b).map(([time, counts]) => ({ time: Timestamp.make(time), ...counts }))
}

const countFailures = (runs: ReadonlyArray<RunSummary>): RunActivity["failures"] => {
  const functions = new Map<string, RunActivity["failures"][number]>()
  for (const { status, project_id, project_name, ns, var: name, run_id } of runs) {
    if (status !== "failed") continue
    const key = JSON.stringify([project_id, ns, name])
    const known = functions.get(key)
    functions.set(
      key,
      known === undefined
        ? { project_id, project_name, ns, var: name, failed: 1, run_id }
        : { ...known, failed: known.failed + 1 }
    )
  }
  return [...functions.values()].sort((a, b) => b.failed - a.failed).slice(0, failuresMax)
}

/** Returns the nearest-rank percentile of sorted values, or null without values. */
const percentile = (sorted: ReadonlyArray<number>, share: number): number | null =>
  sorted[Math.ceil(sorted.length * share) - 1] ?? null
