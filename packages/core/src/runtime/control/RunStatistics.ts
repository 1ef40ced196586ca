/** Counts and latencies of runs over time, for callers. Checks permission first. */
import { Context, Effect, Layer } from "effect"
import { BadRequest, type Forbidden, type NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import { now as currentTime, iso, Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ProjectStore } from "../../resources/projects/ProjectStore.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { readable } from "../../tenants/access/Permission.ts"
import { type MinuteCounts, minuteMs, seriesRetentionMs } from "../runs/MinuteCounts.ts"
import { defaultStepMs, pointsMax, type RunSeries, SeriesGroups, stepMaxMs, stepsMax } from "../runs/Series.ts"
import { type SeriesKey, type SeriesSelection, SeriesStore } from "../runs/SeriesStore.ts"
import { makeResolveTarget, type SentTarget } from "./TargetScope.ts"

export interface SeriesQuery extends SentTarget {
  /** Start of the period; one hour before its end by default. */
  readonly from?: Timestamp | undefined
  /** End of the period; now by default. */
  readonly to?: Timestamp | undefined
  /** Length of a step in milliseconds: whole minutes, at most a day. By default the period has at most 240 steps. */
  readonly stepMs?: number | undefined
}

/** Rows per query. */
const batch = 2_000

/** Maximum rows of an answer: one for each function, minute and node. */
const rowsMax = 200_000

const defaultPeriodMs = 3_600_000

export class RunStatistics extends Context.Service<
  RunStatistics,
  {
    /**
     * Counts the ended runs of each function by step, with the percentiles of their waits and durations. They are at most
     * 10 s old, and are kept for 30 days. Without `project` and `fn`, of all functions whose runs the caller may read: the
     * 20 with the most runs, and the sum of the others. Requires `run: read`.
     */
    readonly series: (
      query: SeriesQuery
    ) => Effect.Effect<RunSeries, Forbidden | NotFound | BadRequest | StoreUnavailable, Caller>
  }
>()("@weft/core/runtime/control/RunStatistics") {
  static readonly layer: Layer.Layer<RunStatistics, never, SeriesStore | ProjectStore> = Layer.effect(
    RunStatistics,
    Effect.gen(function* () {
      const store = yield* SeriesStore
      const resolve = yield* makeResolveTarget("run", "read", [])

      return RunStatistics.of({
        series: Effect.fnUntraced(function* (query) {
          const { caller, target } = yield* resolve(query)
          const { from, to, stepMs } = yield* toPeriod(query, yield* currentTime)
          const only = readable(caller.permissions, "run", "read")
          const { project_id, ns, var: name } = target
          const selection: SeriesSelection = {
            ...{ from, to },
            ...(project_id === null ? {} : { projectId: project_id }),
            ...(ns === null || name === null ? {} : { fn: { ns, var: name } }),
            ...(only === "all" ? {} : { only })
          }
          const groups = new SeriesGroups(stepMs)
          let after: SeriesKey | null = null
          for (let count = 0; count <= rowsMax; count += batch) {
            const rows: ReadonlyArray<MinuteCounts> = yield* store.read(caller.env_id, selection, after, batch)
            groups.add(rows)
            after = rows.at(-1) ?? null
            if (groups.points > pointsMax) return yield* tooMuch
            if (rows.length < batch) return { from, to, step_seconds: stepMs / 1000, series: groups.build() }
          }
          return yield* tooMuch
        })
      })
    })
  )
}

const refuse = (reason: string) => Effect.fail(new BadRequest({ reason }))

const tooMuch = refuse(
  "The period has too many functions and steps: give a project or a function, a shorter period or a longer step"
)

/** Returns the period of a query, whose start is that of a step. */
const toPeriod = Effect.fnUntraced(function* ({ from, to, stepMs }: SeriesQuery, now: Timestamp) {
  const end = to ?? now
  const begin = from ?? Timestamp.make(end - defaultPeriodMs)
  if (begin >= end) return yield* refuse(`from must be before to (got ${iso(begin)} and ${iso(end)})`)
  const step = stepMs ?? defaultStepMs(end - begin)
  if (!Number.isInteger(step / minuteMs) || step < minuteMs || step > stepMaxMs)
    return yield* refuse(`step must be whole minutes, from 1 minute to 1 day (got ${step / 1000} s)`)
  const first = begin - (begin % step)
  const steps = Math.ceil((end - first) / step)
  if (steps > stepsMax)
    return yield* refuse(`The period has ${steps} steps, more than ${stepsMax}: give a longer step or a shorter period`)
  if (end - begin > seriesRetentionMs + stepMaxMs)
    return yield* refuse("The period must not be longer than 31 days: counts are kept for 30 days")
  return { from: Timestamp.make(first), to: end, stepMs: step }
})
