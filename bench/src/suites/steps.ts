/** Flows of three durable steps, each of which triggers the next. */
import type { Figures } from "../programs/Command.ts"
import type { ProgramProcess } from "../programs/ProgramProcess.ts"
import { openPrograms } from "../programs/ProgramSuite.ts"
import { bullmqRedis, dbos, rawPostgres, rawSqlite, restate, weft } from "../programs/Programs.ts"
import type { Suite } from "../Suite.ts"

const flows = { kind: "flows", samples: 150, atOnce: 32, seconds: 2 } as const
const warmUp = { ...flows, samples: 30, seconds: 1 }
const short = { ...flows, samples: 3, seconds: 0.1 }

const measure = async (program: ProgramProcess, size: typeof warmUp): Promise<Figures> => {
  const taken = await program.measure(size)
  return {
    "one flow: p50 ms": taken.flowP50Ms ?? Number.NaN,
    "one flow: p99 ms": taken.flowP99Ms ?? Number.NaN,
    [`${flows.atOnce} flows at once: finished per second`]: taken.flowsPerSecond ?? Number.NaN
  }
}

export const steps: Suite = {
  name: "steps",
  measures: "flows of three steps, from the start of the first step until the result of the last is stored",
  hasShort: true,
  open: ({ isShort }) =>
    openPrograms({
      programs: [rawSqlite, rawPostgres, ...weft("steps"), ...(isShort ? [] : [dbos, restate, bullmqRedis])],
      prepare: (program) => program.measure(isShort ? short : warmUp),
      measure: (program) => measure(program, isShort ? short : flows),
      settings: {
        weft: "each handler publishes the event of the next step; three runs are stored",
        BullMQ: "flows on Redis; flows on PostgreSQL did not finish within 30 s with bullmq 6.7.0",
        limits: "three commits one after the other, and no user code",
        "one flow": `${flows.samples} flows, one after the other`,
        "at once": `${flows.atOnce} flows at any time, for ${flows.seconds} s`
      }
    })
}
