/** The driver of workflow programs measures steps, and suspended workflows from their due time. */
import { describe, expect, it } from "vitest"
import type { Measurement } from "../src/programs/Command.ts"
import { WorkflowDriver } from "../src/programs/WorkflowDriver.ts"
import type { WaitingWorkflows, WorkflowProgram } from "../src/programs/WorkflowProgram.ts"

const lateMs = 7

/** A program whose workflows end immediately, and whose sleepers are late by `lateMs`. */
const quick = () => {
  const sequences: Array<readonly [n: number, steps: number]> = []
  const ends = new Map<number, number>()
  const signals: Array<number> = []
  let published = 0
  let waiting = 0
  const waits: WaitingWorkflows = {
    replays: true,
    sleep: async (first, count, until) => {
      for (let n = first; n < first + count; n++) ends.set(n, until(n) + lateMs)
      waiting += count
    },
    wait: async (_, count) => {
      waiting += count
    },
    suspended: async () => waiting,
    signal: async (n) => void signals.push(n),
    continued: async (n) => {
      waiting--
      return ends.get(n) ?? 0
    },
    publish: async () => {
      published++
      await new Promise((resolve) => setImmediate(resolve))
    },
    cancelAll: async () => {
      waiting = 0
    }
  }
  const program: WorkflowProgram = {
    settings: {},
    sequence: async (n, steps) => {
      sequences.push([n, steps])
      await new Promise((resolve) => setTimeout(resolve, 1))
    },
    fanOut: async () => undefined,
    waits,
    close: async () => undefined
  }
  return { program, sequences, signals, published: () => published }
}

describe("The driver of workflows", () => {
  it("divides the duration of sequential steps by their number", async () => {
    const { program, sequences } = quick()
    const figures = await new WorkflowDriver(program).measure({
      kind: "sequences",
      steps: 4,
      clients: 2,
      seconds: 0.02
    })
    expect(figures.stepP50Ms).toBeGreaterThanOrEqual(0.2)
    expect(figures.stepsPerSecond).toBeCloseTo(4 * (figures.workflowsPerSecond ?? 0))
    expect(new Set(sequences.map(([n]) => n)).size).toBe(sequences.length)
    expect(sequences.every(([, steps]) => steps === 4)).toBe(true)
  })

  it("reports how late sleepers continue, and starts them in time", async () => {
    const { program } = quick()
    const figures = await new WorkflowDriver(program).measure({ kind: "sleepers", count: 100, spreadSeconds: 1 })
    expect([figures.lagP50Ms, figures.lagP99Ms]).toEqual([lateMs, lateMs])
  })

  it("signals each suspended workflow once", async () => {
    const { program, signals } = quick()
    const driver = new WorkflowDriver(program)
    await driver.measure({ kind: "resume", steps: 3, samples: 2 })
    await driver.measure({ kind: "signals", waiting: 10, seconds: 0.01, samples: 2, woken: 5 })
    expect(signals).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  it("measures the rate of events before and during the wait of workflows", async () => {
    const { program, published } = quick()
    const figures = await new WorkflowDriver(program).measure(signalsMeasurement)
    expect(published()).toBeGreaterThan(0)
    expect(Math.min(figures.withNone ?? 0, figures.others ?? 0, figures.unmatched ?? 0)).toBeGreaterThan(0)
  })

  it.each<[string, (program: WorkflowProgram) => WorkflowProgram, Measurement, string]>([
    [
      "too many workflows are suspended",
      ({ waits, ...program }) =>
        waits === undefined ? program : { ...program, waits: { ...waits, suspended: async () => 2 } },
      { kind: "resume", steps: 1, samples: 1 },
      "suspended instead of"
    ],
    [
      "fanOut is missing",
      ({ fanOut: _, ...program }) => program,
      { kind: "fanOut", steps: 1, samples: 1 },
      "implement fanOut"
    ],
    [
      "it has no waits",
      ({ waits: _, ...program }) => program,
      { kind: "resume", steps: 1, samples: 1 },
      "no suspended workflows"
    ]
  ])("fails if %s", async (_, change, measurement, message) => {
    const broken = change(quick().program)
    await expect(async () => new WorkflowDriver(broken).measure(measurement)).rejects.toThrow(message)
  })
})

const signalsMeasurement = { kind: "signals", waiting: 1, seconds: 0.01, samples: 1, woken: 0 } as const
