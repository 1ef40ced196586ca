/** Counts of runs over time, as charts show them. Pure. */
import type { FunctionSeries, RunSeries } from "@weft/client"

export type Period = "1h" | "24h" | "7d" | "30d"

const hourMs = 3_600_000
const minuteMs = 60_000

/** Length of each period and of its steps, in milliseconds. */
export const periods: Readonly<Record<Period, { readonly ms: number; readonly stepMs: number }>> = {
  "1h": { ms: hourMs, stepMs: minuteMs },
  "24h": { ms: 24 * hourMs, stepMs: 30 * minuteMs },
  "7d": { ms: 7 * 24 * hourMs, stepMs: 3 * hourMs },
  "30d": { ms: 30 * 24 * hourMs, stepMs: 12 * hourMs }
}

export const periodNames = ["1h", "24h", "7d", "30d"] as const satisfies ReadonlyArray<Period>

/** Ended runs of one step. */
export interface Step {
  /** Start, in milliseconds. */
  readonly time: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
}

export const endedIn = ({ succeeded, failed, cancelled }: Omit<Step, "time">): number => succeeded + failed + cancelled

/** Returns the query of a period that ends now: its number of steps is the same at each time. */
export const seriesQuery = (period: Period, now: number): { readonly from: string; readonly step: string } => {
  const { ms, stepMs } = periods[period]
  return { from: new Date(now - ms + stepMs).toISOString(), step: `${stepMs / minuteMs}m` }
}

/** Returns the sum of the functions for each step of the period, also for steps without a run. */
export const toSteps = (
  { from, to, step_seconds }: Omit<RunSeries, "series">,
  functions: ReadonlyArray<FunctionSeries>
): ReadonlyArray<Step> => {
  const start = Date.parse(from)
  const stepMs = step_seconds * 1000
  const count = Math.max(1, Math.ceil((Date.parse(to) - start) / stepMs))
  const sums = Array.from({ length: count }, () => ({ succeeded: 0, failed: 0, cancelled: 0 }))
  for (const { points } of functions) {
    for (const { time, succeeded, failed, cancelled } of points) {
      const sum = sums[Math.round((Date.parse(time) - start) / stepMs)]
      if (sum === undefined) continue
      sum.succeeded += succeeded
      sum.failed += failed
      sum.cancelled += cancelled
    }
  }
  return sums.map((sum, index) => ({ time: start + index * stepMs, ...sum }))
}

/** Returns the steps with further runs in the last one. */
export const addToLast = (steps: ReadonlyArray<Step>, more: Omit<Step, "time">): ReadonlyArray<Step> =>
  steps.map((step, index) =>
    index < steps.length - 1
      ? step
      : {
          time: step.time,
          succeeded: step.succeeded + more.succeeded,
          failed: step.failed + more.failed,
          cancelled: step.cancelled + more.cancelled
        }
  )

/** Returns the last 60 minutes in their order, also those without a run. */
export const lastHour = (
  minutes: ReadonlyArray<Omit<Step, "time"> & { readonly time: string }>,
  now: number
): ReadonlyArray<Step> => {
  const known = new Map(minutes.map((minute) => [Date.parse(minute.time), minute]))
  const last = Math.floor(now / minuteMs) * minuteMs
  return Array.from({ length: 60 }, (_, index) => {
    const time = last - (59 - index) * minuteMs
    const { succeeded = 0, failed = 0, cancelled = 0 } = known.get(time) ?? {}
    return { time, succeeded, failed, cancelled }
  })
}
