/** Jobs published one by one and in batches, each handled by user code, until every result is stored. */
import type { Figures } from "../programs/Command.ts"
import type { ProgramProcess } from "../programs/ProgramProcess.ts"
import { openPrograms } from "../programs/ProgramSuite.ts"
import { rawPostgres, rawSqlite, weftPostgres, weftSqlite } from "../programs/Programs.ts"
import type { Suite } from "../Suite.ts"

const publishers = 32
const secondsOneByOne = 2
const jobsOneByOneMax = 40_000

const jobsInBulk = 20_000
const batch = 1_000
/** Whoever takes longer for all of them is given fewer. */
const secondsInBulk = 6

/** How many jobs are published in batches: as many as the program does in the time. */
const prepare = async (program: ProgramProcess): Promise<number> => {
  await program.measure({ kind: "oneByOne", publishers, seconds: 1, jobsMax: 5_000 })
  const { finishedPerSecond = 0 } = await program.measure({ kind: "bulk", jobs: 2 * batch, batch })
  const batches = Math.round((finishedPerSecond * secondsInBulk) / batch)
  return Math.min(jobsInBulk, Math.max(1, batches) * batch)
}

const measure = async (program: ProgramProcess, jobs: number): Promise<Figures> => {
  const one = await program.measure({
    kind: "oneByOne",
    publishers,
    seconds: secondsOneByOne,
    jobsMax: jobsOneByOneMax
  })
  const bulk = await program.measure({ kind: "bulk", jobs, batch })
  return {
    "one by one: published per second": one.publishedPerSecond ?? Number.NaN,
    "one by one: finished per second": one.finishedPerSecond ?? Number.NaN,
    "in bulk: published per second": bulk.publishedPerSecond ?? Number.NaN,
    "in bulk: finished per second": bulk.finishedPerSecond ?? Number.NaN
  }
}

export const jobs: Suite = {
  name: "jobs",
  measures: "jobs of 1 KB, from the first publish until every result is stored",
  open: () =>
    openPrograms({
      programs: [rawSqlite, rawPostgres, weftSqlite, weftPostgres],
      prepare,
      measure,
      settings: {
        "one by one": `${publishers} publishers, each its next job when the one before is durable, for ${secondsOneByOne} s`,
        "in bulk": `${jobsInBulk} jobs in batches of ${batch}, or as many as take about ${secondsInBulk} s`
      }
    })
}
