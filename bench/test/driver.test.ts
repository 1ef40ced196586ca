/** What measures programs of jobs counts what was stored, and believes nobody. */
import { expect, it } from "vitest"
import { Driver } from "../src/programs/Driver.ts"
import { type JobProgram, resultOf } from "../src/programs/JobProgram.ts"
import { Starts } from "../src/programs/Starts.ts"
import { wallNow } from "../src/programs/WallClock.ts"

/** Does every job at once, and keeps its result. */
const quick = () => {
  const results = new Map<number, unknown>()
  const starts = new Starts()
  const batches: Array<number> = []
  const publish = async (n: number): Promise<void> => {
    starts.note(n)
    results.set(n, resultOf(n))
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

it("publishes one by one and in batches, and never a number twice", async () => {
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

it("measures from the call of publish to the first line of user code", async () => {
  const { program } = quick()
  const startedAt = async (n: number) => (await program.startedAt(n)) + 5
  const figures = await new Driver({ ...program, startedAt }).measure({ kind: "latency", samples: 5 })
  expect(figures.startedP50Ms).toBeGreaterThanOrEqual(5)
  expect(figures.startedP99Ms).toBeGreaterThanOrEqual(figures.startedP50Ms ?? Number.NaN)
})

it("counts flows, one after the other and many at once", async () => {
  const { program } = quick()
  const flows = new Set<number>()
  let underWay = 0
  let most = 0
  const flow = async (n: number): Promise<void> => {
    expect(flows.has(n)).toBe(false)
    flows.add(n)
    most = Math.max(most, ++underWay)
    await new Promise((resolve) => setTimeout(resolve, 1))
    underWay--
  }
  const driver = new Driver({ ...program, flow })
  expect((await driver.measure({ kind: "flows", samples: 3, atOnce: 0, seconds: 0 })).flowP50Ms).toBeGreaterThan(0)
  expect([flows.size, most]).toEqual([3, 1])
  const { flowsPerSecond } = await driver.measure({ kind: "flows", samples: 0, atOnce: 4, seconds: 0.05 })
  expect(flowsPerSecond).toBeGreaterThan(0)
  expect(most).toBe(4)
})

it.each<[string, (program: JobProgram) => JobProgram, string]>([
  ["a result is missing", (program) => ({ ...program, result: async () => undefined }), "is not stored"],
  ["a result is wrong", (program) => ({ ...program, result: async (n) => resultOf(n + 1) }), "is not stored"],
  [
    "more is finished than was published",
    (program) => ({ ...program, finished: async () => 1e6 }),
    "1000000 of 10\\d jobs are finished"
  ]
])("fails where %s", async (_, spoil, reason) => {
  const driver = new Driver(spoil(quick().program))
  await expect(driver.measure(oneByOne)).rejects.toThrow(new RegExp(reason))
})

it("waits for a start that comes later", async () => {
  const starts = new Starts()
  const before = wallNow()
  const waiting = starts.of(1)
  starts.note(1)
  expect(await waiting).toBeGreaterThanOrEqual(before)
})
