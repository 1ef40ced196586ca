/** Latency of an idle system, from the call of `publish` to the first line of user code. */
import type { Figures } from "../programs/Command.ts"
import type { ProgramProcess } from "../programs/ProgramProcess.ts"
import { openPrograms } from "../programs/ProgramSuite.ts"
import {
  bullmqPostgres,
  bullmqRedis,
  dbos,
  graphileWorker,
  pgBossNotified,
  rawPostgres,
  rawSqlite,
  restate,
  weft
} from "../programs/Programs.ts"
import type { Suite } from "../Suite.ts"

const samples = 240
const warmUpSamples = 100
const shortSamples = 10

const measure = async (program: ProgramProcess, samples: number): Promise<Figures> => {
  const taken = await program.measure({ kind: "latency", samples })
  return {
    "publish resolves: p50 ms": taken.publishedP50Ms ?? Number.NaN,
    "user code starts: p50 ms": taken.startedP50Ms ?? Number.NaN,
    "user code starts: p99 ms": taken.startedP99Ms ?? Number.NaN
  }
}

export const latency: Suite = {
  name: "latency",
  measures: "from publish to the first line of user code, on an idle system",
  hasShort: true,
  headlines: ["user code starts: p50 ms", "user code starts: p99 ms"],
  open: ({ isShort }) =>
    openPrograms({
      programs: [
        rawSqlite,
        rawPostgres,
        ...weft("latency"),
        ...(isShort ? [] : [graphileWorker, pgBossNotified, dbos, bullmqRedis, bullmqPostgres, restate])
      ],
      prepare: (program) => program.measure({ kind: "latency", samples: isShort ? 1 : warmUpSamples }),
      measure: (program) => measure(program, isShort ? shortSamples : samples),
      settings: {
        samples: `${samples} jobs, each after the previous one has finished and a random pause of up to 12 ms`,
        limits: "a round trip to the database: one commit, and no user code"
      }
    })
}
