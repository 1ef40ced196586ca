import { assert, describe, it } from "@effect/vitest"
import type { FunctionSeries, SeriesPoint } from "@weft/client"
import { addToLast, endedIn, periodNames, periods, seriesQuery, toSteps } from "../src/series/series.ts"

const counts = { succeeded: 3, failed: 1, cancelled: 0, retried: 0, wait: null, duration: null }

const point = (time: string): SeriesPoint => ({ time, ...counts })

const makeSeries = (...times: ReadonlyArray<string>): FunctionSeries => ({
  ...{ project_id: "project", project_name: "shop", ns: "orders", var: "pay" },
  total: counts,
  points: times.map(point)
})

describe("charts of runs over time", () => {
  it("have a bar for each step of the period, with the sum of all functions", () => {
    const period = { from: "2026-01-31T12:00:00.000Z", to: "2026-01-31T12:03:30.000Z", step_seconds: 60 }
    const steps = toSteps(period, [
      makeSeries("2026-01-31T12:00:00.000Z", "2026-01-31T12:02:00.000Z"),
      makeSeries("2026-01-31T12:02:00.000Z")
    ])
    assert.deepStrictEqual(steps.map(endedIn), [4, 0, 8, 0])
    const more = addToLast(steps, { succeeded: 1, failed: 0, cancelled: 2 })
    assert.deepStrictEqual(more.map(endedIn), [4, 0, 8, 3])
  })

  it("ask for as many steps at each time of the day", () => {
    for (const name of periodNames) {
      const { ms, stepMs } = periods[name]
      for (const now of [0, 1, 59_999, 11 * 3_600_000].map((offset) => Date.parse("2026-01-31T00:00:00Z") + offset)) {
        const from = Date.parse(seriesQuery(name, now).from)
        // The server begins with the step that contains the start.
        const first = from - (from % stepMs)
        assert.closeTo((now - first) / stepMs, ms / stepMs, 1, name)
      }
    }
  })
})
