/** The driver of job programs checks that results are stored. */
import { expect, it } from "vitest"
import { Driver } from "../src/programs/Driver.ts"
import { type JobProgram, toResult } from "../src/programs/JobProgram.ts"
import { Starts } from "../src/programs/Starts.ts"
import { wallNow } from "../src/programs/WallClock.ts"

/** A program that finishes every job immediately. */
const quick = () => {
  const results = new Map<number, unknown>()
  const starts = new Starts()
  const batches: Array<number> = []
  const publish = async (n: number): Promise<void> => {
    starts.record(n)
    results.set(n, toResult(n))
  }
  const program: JobProgram = {
    settings: {},
    publish,
    publishMany: async (first, count) => {
      batches.push(count)
      for (let n = first; n < first + count; n++) await publish(n)
    },
    finished: async () => results.size,
    result: async (n) => results.get(n),
    startedAt: (n) => starts.of(n),
    flow: async () => undefined,
    close: async () => undefined
  }
  return { program, results, batches }
}

const oneByOne = { kind: "oneByOne", publishers: 4, seconds: 60, jobsMax: 100 } as const

it("The driver publishes one by one and in batches, each number once", async () => {
  const { program, results, batches } = quick()
  const driver = new Driver(program)
  const { jobs = 0, publishedPerSecond = 0, finishedPerSecond = 0 } = await driver.measure(oneByOne)
  expect(jobs).toBeGreaterThanOrEqual(oneByOne.jobsMax)
  expect(finishedPerSecond).toBeGreaterThan(0)
  expect(finishedPerSecond).toBeLessThanOrEqual(publishedPerSecond)
  await driver.measure({ kind: "bulk", jobs: 300, batch: 100 })
  expect(batches).toEqual([100, 100, 100])
  expect([...results.keys()]).toEqual(Array.from({ length: jobs + 300 }, (_, n) => n))
})

it("The driver measures from the call of publish to the first line of user code", async () => {
  const { program } = quick()
  const startedAt = async (n: number) => (await program.startedAt(n)) + 5
  const figures = await new Driver({ ...program, startedAt }).measure({ kind: "latency", samples: 5 })
  expect(figures.startedP50Ms).toBeGreaterThanOrEqual(5)
  expect(figures.startedP99Ms).toBeGreaterThanOrEqual(figures.startedP50Ms ?? Number.NaN)
})

it("The driver counts sequential and concurrent flows", async () => {
  const { program } = quick()
  const flows = new Set<number>()
  let inFlight = 0
  let maxInFlight = 0
  const flow = async (n: number): Promise<void> => {
    expect(flows.has(n)).toBe(false)
    flows.add(n)
    maxInFlight = Math.max(maxInFlight, ++inFlight)
    await new Promise((resolve) => setTimeout(resolve, 1))
    inFlight--
  }
  const driver = new Driver({ ...program, flow })
  expect((await driver.measure({ kind: "flows", samples: 3, atOnce: 0, seconds: 0 })).flowP50Ms).toBeGreaterThan(0)
  expect([flows.size, maxInFlight]).toEqual([3, 1])
  const { flowsPerSecond } = await driver.measure({ kind: "flows", samples: 0, atOnce: 4, seconds: 0.05 })
  expect(flowsPerSecond).toBeGreaterThan(0)
  expect(maxInFlight).toBe(4)
})

it.each<[string, (program: JobProgram) => JobProgram, string]>([
  ["a result is missing", (program) => ({ ...program, result: async () => undefined }), "is not stored"],
  ["a result is wrong", (program) => ({ ...program, result: async (n) => toResult(n + 1) }), "is not stored"],
  [
    "more is finished than was published",
    (program) => ({ ...program, finished: async () => 1e6 }),
    "1000000 of 10\\d jobs are finished"
  ]
])("The driver fails if %s", async (_, spoil, reason) => {
  const driver = new Driver(spoil(quick().program))
  await expect(driver.measure(oneByOne)).rejects.toThrow(new RegExp(reason))
})

it("Start times can be awaited before they are recorded", async () => {
  const starts = new Starts()
  const before = wallNow()
  const waiting = starts.of(1)
  starts.record(1)
  expect(await waiting).toBeGreaterThanOrEqual(before)
})
