/** The judgement of shapes, and the comparison of the innocent tenant's runs with its events and ticks. */
import { describe, expect, it } from "vitest"
import { Answers } from "../src/neighbours/Answers.ts"
import { type InnocentRun, lostEvents, lostTicks, slowestEventMs } from "../src/neighbours/Losses.ts"
import type { Published, Sample } from "../src/neighbours/Messages.ts"
import { summarizeShapes } from "../src/neighbours/NeighboursProof.ts"
import type { Shape } from "../src/neighbours/Shape.ts"
import { selectShapes, shapes } from "../src/neighbours/Shapes.ts"
import { judge, type Measurement, toLatency } from "../src/neighbours/Verdict.ts"

const shape: Shape = {
  name: "sample",
  attacker: "stranger",
  room: "http front",
  sends: "a client sends a sample",
  sees: [404, "open"],
  attack: async () => undefined
}

const memory = { server: 100, runners: 50 }

const held: Measurement = {
  idle: { medianMs: 4, worstMs: 9 },
  attacked: { medianMs: 50, worstMs: 500 },
  webhooks: 200,
  losses: [],
  slowestEventMs: 20,
  clientLagMs: 1,
  server: { before: memory, most: memory, after: memory, loopDelayMs: 30 },
  isServerGone: false,
  answers: { 404: 7, open: 1 }
}

const judged = (change: Partial<Measurement>): ReadonlyArray<string> => judge(shape, { ...held, ...change })

const sample = (ms: number): Sample => ({ at: 0, ms, fault: null })

describe("The judgement", () => {
  it("accepts a shape exactly at the bar", () => {
    expect(judged({})).toEqual([])
  })

  it("reports a median above 50 ms", () => {
    expect(judged({ attacked: { medianMs: 51, worstMs: 500 } })).toEqual([
      "the innocent webhook's median answer took 51 ms, at most 50 ms are allowed (4.0 ms idle)"
    ])
  })

  it("reports an answer that took longer than 500 ms", () => {
    expect(judged({ attacked: { medianMs: 5, worstMs: 501 } })).toEqual([
      "the innocent webhook's slowest answer took 501 ms, at most 500 ms are allowed (9.0 ms idle)"
    ])
  })

  it("reports losses, a server that exited, and an attack that did not stop", () => {
    expect(judged({ losses: ["event 3 has 2 runs", "another"] })).toEqual(["2 lost, such as: event 3 has 2 runs"])
    expect(judged({ isServerGone: true })).toEqual(["the server exited"])
    expect(judged({ answers: null })).toEqual(["the attack did not stop at its end"])
  })

  it("reports answers that the attacker must not see, and an attack without any answer", () => {
    expect(judged({ answers: { 404: 1, 500: 2 } })).toEqual(["the attacker saw 500 2 times, allowed are 404, open"])
    expect(judged({ answers: {} })).toEqual(["the attack got no answer, so it did not reach the server"])
  })

  it("reports a machine that misses the bar without an attack", () => {
    expect(judged({ idle: { medianMs: 4, worstMs: 501 } })).toEqual([
      "the machine was too busy to measure: the bar was missed before the attack"
    ])
  })

  it("reports a measurement without samples", () => {
    expect(judged({ attacked: toLatency([]) })).toHaveLength(2)
  })

  it("computes the median and the slowest answer of samples", () => {
    expect(toLatency([sample(9), sample(1), sample(5)])).toEqual({ medianMs: 5, worstMs: 9 })
  })
})

describe("The outcome", () => {
  it("names the shapes that missed the bar, and has a row for each shape", () => {
    const { failures, table } = summarizeShapes([
      { shape, measurement: held, violations: [] },
      { shape: { ...shape, name: "late" }, measurement: held, violations: ["it was late"] },
      { shape: { ...shape, name: "broken" }, measurement: null, violations: ["it could not be measured: why"] }
    ])
    expect(failures).toEqual(["late: it was late", "broken: it could not be measured: why"])
    expect(table?.rows.map((row) => row.at(-1))).toEqual(["yes", "**no**", "**no**"])
    for (const row of table?.rows ?? []) expect(row).toHaveLength(table?.columns.length ?? 0)
  })
})

describe("The losses", () => {
  const at = Date.UTC(2026, 0, 1)
  const time = (seconds: number): string => new Date(at + seconds * 1000).toISOString()
  const published = (n: number, event_id: string | null): Published => ({ n, at, event_id, fault: null })
  const run = (event_id: string, result: unknown, status = "succeeded"): InnocentRun => ({
    event_id,
    status,
    start_time: time(0),
    stop_time: time(2),
    result
  })

  it("contain events without exactly one right run", () => {
    const events = ["a", "b", "c", "d", "e", null].map((id, n) => published(n, id))
    const runs = [
      run("a", { n: 0 }),
      run("b", { n: 1 }),
      run("b", { n: 1 }),
      run("c", { n: 0 }),
      run("d", { name: "CpuExhausted" }, "failed")
    ]
    expect(lostEvents(events, runs)).toEqual([
      "event 1 has 2 runs",
      "event 2 has a wrong result",
      'the run of event 3 is failed: {"name":"CpuExhausted"}',
      "event 4 has 0 runs",
      "event 5 was refused: null"
    ])
  })

  it("contain missing and repeated ticks", () => {
    const ticks = [0, 1, 1, 3].map((second) => run("x", { tick: time(second) }))
    expect(lostTicks(at - 500, at + 3_000, ticks)).toEqual([
      `the tick of ${time(1)} has 2 runs`,
      `the tick of ${time(2)} has 0 runs`
    ])
  })

  it("do not include the time of the slowest event, which is measured", () => {
    expect(slowestEventMs([published(0, "a"), published(1, "gone")], [run("a", { n: 0 })])).toBe(2_000)
  })
})

describe("The answers", () => {
  it("count status lines that arrive in pieces once", () => {
    const answers = new Answers()
    let rest = ""
    for (const text of ["HTTP/1.1 404 Not Found\r\n\r\nHTTP/1.", "1 4", "04 Not Found\r\n", "\r\n"]) {
      rest = answers.addStatuses(rest + text)
    }
    expect(answers.counts).toEqual({ 404: 2 })
  })
})

describe("The shapes", () => {
  it("have unique names, and are at least 40 of strangers and tenants", () => {
    const all = selectShapes(undefined)
    expect(shapes.size).toBe(all.length)
    expect(all.length).toBeGreaterThanOrEqual(40)
    expect(new Set(all.map(({ attacker }) => attacker))).toEqual(new Set(["stranger", "tenant", "system"]))
  })

  it("are selected by their names", () => {
    expect(selectShapes("endless-loop, chunked-404").map(({ name }) => name)).toEqual(["endless-loop", "chunked-404"])
    expect(() => selectShapes("nothing")).toThrow('Unknown shape "nothing" in --only')
  })
})
