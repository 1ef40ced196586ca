import { assert, describe, it } from "@effect/vitest"
import type { FunctionSeries, SeriesPoint } from "@weft/client"
import { rulesOf } from "../src/builds/CanaryRules.ts"
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

describe("rules of a canary", () => {
  const settings = {
    ...{ share: 0.1, key: null, window_ms: 600_000, min_runs: 10, promote: "auto" as const },
    ...{ max_failure_share: null, max_failure_share_over_base: 0.05, max_latency_ratio: 2 }
  }
  const side = (runs: number, failures: number, p95_ms: number | null) => ({
    ...{ runs, failures, failure_share: runs === 0 ? 0 : failures / runs, p95_ms }
  })
  const statesOf = (canary: ReturnType<typeof side>, base: ReturnType<typeof side>) =>
    rulesOf({ settings, counts: { canary, base } }).map(({ state }) => state)

  it("are open before there are enough runs, the latency of both builds", () => {
    assert.deepStrictEqual(statesOf(side(9, 9, 50), side(90, 0, 10)), ["open", "open"])
    assert.deepStrictEqual(statesOf(side(10, 1, 50), side(5, 0, 10)), ["broken", "open"])
  })

  it("hold up to their limits", () => {
    assert.deepStrictEqual(statesOf(side(100, 5, 20), side(100, 0, 10)), ["holds", "holds"])
    assert.deepStrictEqual(statesOf(side(100, 6, 21), side(100, 0, 10)), ["broken", "broken"])
  })
})
