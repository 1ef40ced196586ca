/** The soak in short: a mixed load on a real server is seen through, all of it looked at, and nothing is amiss. */
import { describe, expect, it } from "vitest"
import { Findings } from "../src/nodes/Findings.ts"
import { Latencies } from "../src/soak/Latencies.ts"
import { sqlitePlace } from "../src/soak/Place.ts"
import { emptyTally } from "../src/soak/Rounds.ts"
import { Series } from "../src/soak/Series.ts"
import { type Soaked, soak } from "../src/soak/Soak.ts"
import { verdictOf } from "../src/soak/Verdict.ts"

const figuresOf = (soaked: Soaked): ReadonlyMap<string, number> => new Map(verdictOf(soaked).figures)

it("runs clean, and does all that it says", async () => {
  const soaked = await soak({ open: sqlitePlace, minutes: 0.2, rate: 15, seed: 1, progress: () => undefined })
  const { failures, panels = [] } = verdictOf(soaked)
  expect(failures).toEqual([])
  const figures = figuresOf(soaked)
  expect(figures.get("events stored, each looked at")).toBeGreaterThan(100)
  expect(figures.get("runs succeeded")).toBeGreaterThan(100)
  expect(figures.get("streams followed to their end")).toBeGreaterThan(0)
  expect(figures.get("facts that watchers had to be told")).toBeGreaterThan(0)
  for (const kind of ["file up, down and away", "session", "context variable", "run cancelled", "lists"]) {
    expect(figures.get(`done: ${kind}`), kind).toBeGreaterThan(0)
  }
  const titles = panels.map(({ title }) => title)
  expect(titles).toEqual(expect.arrayContaining(["rows that come and go", "heap of a node after collections, MiB"]))
})

describe("the verdict", () => {
  /** As if an hour had been run, in which the heap went so. */
  const hour = (heap: (minute: number) => number): Soaked => {
    const series = new Series()
    const figure = { panel: "heap", name: "server", tolerance: { share: 0.1, least: 12 } }
    for (let minute = 0; minute < 60; minute += 0.25) series.add(figure, minute, heap(minute))
    return {
      ...{ what: "a sample", rate: 10, capacity: null, minutes: 60, retentionMs: 300_000, logs: "" },
      ...{ tally: { ...emptyTally(), events: 1 }, latencies: new Latencies(), series, findings: new Findings([]) },
      chores: { done: new Map([["lists", 1]]), failures: [], stop: async () => undefined }
    }
  }

  it("is that of a leak where there is one", () => {
    const { failures } = verdictOf(hour((minute) => 100 + minute + ((minute * 7) % 30)))
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatch(/^heap, server: \+4\d\.\d in the last three quarters/)
  })

  it("is that of none where there is none", () => {
    expect(verdictOf(hour((minute) => 100 + ((minute * 7) % 30))).failures).toEqual([])
  })

  it("is that of a failure where something was missing, or a chore failed", () => {
    const soaked = hour(() => 100)
    soaked.findings.add("acknowledged events that are gone", "an event")
    const chores = { ...soaked.chores, failures: ["session: 500"] }
    expect(verdictOf({ ...soaked, chores }).failures).toEqual([
      "acknowledged events that are gone: 1, such as an event",
      "session: 500"
    ])
  })
})
