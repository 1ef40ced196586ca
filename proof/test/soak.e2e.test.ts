/** A short soak: a mixed load on a real server, with all checks. */
import { describe, expect, it } from "vitest"
import { Findings } from "../src/nodes/Findings.ts"
import { Latencies } from "../src/soak/Latencies.ts"
import { emptyTotals } from "../src/soak/Rounds.ts"
import { Series } from "../src/soak/Series.ts"
import { type SoakResult, soak } from "../src/soak/Soak.ts"
import { openSqliteTarget } from "../src/soak/SoakTarget.ts"
import { summarize } from "../src/soak/Summary.ts"

const readFigures = (result: SoakResult): ReadonlyMap<string, number> => new Map(summarize(result).figures)

it("runs every operation without a failure", async () => {
  const result = await soak({ open: openSqliteTarget, minutes: 0.2, rate: 15, seed: 1, progress: () => undefined })
  const { failures, panels = [] } = summarize(result)
  expect(failures).toEqual([])
  const figures = readFigures(result)
  expect(figures.get("events stored and checked")).toBeGreaterThan(100)
  expect(figures.get("runs succeeded")).toBeGreaterThan(100)
  expect(figures.get("streams followed to their end")).toBeGreaterThan(0)
  expect(figures.get("messages that watchers had to receive")).toBeGreaterThan(0)
  for (const kind of [
    ...["file uploaded, downloaded and removed", "session created, used and revoked", "run cancelled", "list read"],
    "secret created, changed and removed"
  ]) {
    expect(figures.get(`done: ${kind}`), kind).toBeGreaterThan(0)
  }
  const titles = panels.map(({ title }) => title)
  expect(titles).toEqual(
    expect.arrayContaining(["rows of tables without retention", "node heap after collections, MiB"])
  )
})

describe("The summary", () => {
  /** Returns the result of an hour with this heap. */
  const hour = (heap: (minute: number) => number): SoakResult => {
    const series = new Series()
    const figure = { panel: "heap", name: "server", tolerance: { share: 0.1, least: 12 } }
    for (let minute = 0; minute < 60; minute += 0.25) series.add(figure, minute, heap(minute))
    return {
      ...{ what: "a sample", rate: 10, capacity: null, minutes: 60, retentionMs: 300_000, logs: "" },
      ...{ totals: { ...emptyTotals(), events: 1 }, latencies: new Latencies(), series, findings: new Findings([]) },
      background: { done: new Map([["list read", 1]]), failures: [], stop: async () => undefined }
    }
  }

  it("reports a leak", () => {
    const { failures } = summarize(hour((minute) => 100 + minute + ((minute * 7) % 30)))
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatch(/^heap, server: \+4\d\.\d in the last three quarters/)
  })

  it("reports nothing without a leak", () => {
    expect(summarize(hour((minute) => 100 + ((minute * 7) % 30))).failures).toEqual([])
  })

  it("reports lost events and failed background operations", () => {
    const result = hour(() => 100)
    result.findings.add("acknowledged events that are missing", "an event")
    const background = { ...result.background, failures: ["session created, used and revoked: 500"] }
    expect(summarize({ ...result, background }).failures).toEqual([
      "acknowledged events that are missing: 1, such as an event",
      "session created, used and revoked: 500"
    ])
  })
})
