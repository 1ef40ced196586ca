/** Jobs published one by one and in batches, each handled by user code, until every result is stored. */
import type { Figures, Measurement } from "../programs/Command.ts"
import type { ProgramProcess } from "../programs/ProgramProcess.ts"
import { openPrograms } from "../programs/ProgramSuite.ts"
import {
  bullmqPostgres,
  bullmqRedis,
  dbos,
  graphileWorker,
  graphileWorkerBare,
  pgBoss,
  rawPostgres,
  rawSqlite,
  restate,
  weft
} from "../programs/Programs.ts"
import type { Suite } from "../Suite.ts"

type Size = Measurement & { readonly kind: "oneByOne" }

const oneByOne: Size = { kind: "oneByOne", publishers: 32, seconds: 2, jobsMax: 40_000 }
const warmUp: Size = { kind: "oneByOne", publishers: 32, seconds: 1, jobsMax: 5_000 }
const short: Size = { kind: "oneByOne", publishers: 32, seconds: 0.3, jobsMax: 200 }

const jobsInBulk = 20_000
const batch = 1_000
const shortBatch = 100
/** Target duration in seconds; slower programs get fewer jobs. */
const secondsInBulk = 6

/** Warms a program up and returns the number of jobs that it finishes in `secondsInBulk`. */
const prepare = async (program: ProgramProcess): Promise<number> => {
  await program.measure(warmUp)
  const { finishedPerSecond = 0 } = await program.measure({ kind: "bulk", jobs: 2 * batch, batch })
  const batches = Math.round((finishedPerSecond * secondsInBulk) / batch)
  return Math.min(jobsInBulk, Math.max(1, batches) * batch)
}

const measure = async (program: ProgramProcess, size: Size, jobs: number, batch: number): Promise<Figures> => {
  const one = await program.measure(size)
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
  hasShort: true,
  headlines: ["one by one: finished per second", "in bulk: finished per second"],
  open: ({ isShort }) =>
    openPrograms({
      programs: [
        rawSqlite,
        rawPostgres,
        ...weft("jobs"),
        graphileWorker,
        graphileWorkerBare,
        pgBoss,
        dbos,
        bullmqRedis,
        bullmqPostgres,
        restate
      ],
      prepare: (program) => (isShort ? Promise.resolve(2 * shortBatch) : prepare(program)),
      measure: (program, jobs) =>
        isShort ? measure(program, short, jobs, shortBatch) : measure(program, oneByOne, jobs, batch),
      settings: {
        "one by one": `${oneByOne.publishers} publishers, each publishes its next job when the previous one is durable, for ${oneByOne.seconds} s`,
        "in bulk": `${jobsInBulk} jobs in batches of ${batch}, one batch after the other, or as many as take about ${secondsInBulk} s`
      }
    })
}
