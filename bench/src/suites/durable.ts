/** Durable workflows: steps one after the other, steps side by side, and runs that continue after a wait. */
import type { Figures } from "../programs/Command.ts"
import type { ProgramProcess } from "../programs/ProgramProcess.ts"
import { openPrograms } from "../programs/ProgramSuite.ts"
import {
  asWorkflows,
  dbosWorkflows,
  type Program,
  rawPostgres,
  rawSqlite,
  restateWorkflows,
  workflowsOnPostgres,
  workflowsOnSqlite
} from "../programs/Programs.ts"
import type { Suite } from "../Suite.ts"

const steps = 10
const clientCounts = [1, 32]

interface Size {
  /** Duration of each measurement of sequential steps, in seconds. */
  readonly seconds: number
  readonly fanOut: { readonly steps: number; readonly samples: number }
  readonly wake: { readonly steps: number; readonly samples: number }
  readonly resume: { readonly steps: number; readonly samples: number }
}

const full: Size = {
  seconds: 3,
  fanOut: { steps: 500, samples: 5 },
  wake: { steps: 1, samples: 30 },
  resume: { steps: 1_000, samples: 3 }
}
const warmUp: Size = {
  seconds: 1.5,
  fanOut: { steps: 500, samples: 1 },
  wake: { steps: 1, samples: 3 },
  resume: { steps: 1_000, samples: 1 }
}
const short: Size = {
  seconds: 0.1,
  fanOut: { steps: 20, samples: 1 },
  wake: { steps: 1, samples: 1 },
  resume: { steps: 20, samples: 1 }
}

/** Contenders that store steps but have no waits. */
const limits: ReadonlyArray<Program> = [asWorkflows(rawSqlite), asWorkflows(rawPostgres)]

/** DBOS keeps waiting workflows in memory, so they continue without a replay. */
const replays = ({ name }: Program): boolean => name !== dbosWorkflows.name

const measure = async (program: ProgramProcess, contender: Program, size: Size): Promise<Figures> => {
  const figures: Record<string, number> = {}
  for (const clients of clientCounts) {
    const taken = await program.measure({ kind: "sequences", steps, clients, seconds: size.seconds })
    const prefix = clients === 1 ? "1 client" : `${clients} clients`
    figures[`${prefix}: workflows/s`] = taken.workflowsPerSecond ?? Number.NaN
    figures[`${prefix}: steps/s`] = taken.stepsPerSecond ?? Number.NaN
    figures[`${prefix}: p50 ms per step`] = taken.stepP50Ms ?? Number.NaN
    figures[`${prefix}: p99 ms per step`] = taken.stepP99Ms ?? Number.NaN
    figures[`${prefix}: CPU ms per step`] = taken.stepCpuMs ?? Number.NaN
  }
  const { fanOutP50Ms = Number.NaN } = await program.measure({ kind: "fanOut", ...size.fanOut })
  figures[`${full.fanOut.steps} steps side by side: ms`] = fanOutP50Ms
  if (contender.isLimit === true) return figures
  const woken = await program.measure({ kind: "resume", ...size.wake })
  figures["wake by a signal: p50 ms"] = woken.resumeP50Ms ?? Number.NaN
  if (!replays(contender)) return figures
  const resumed = await program.measure({ kind: "resume", ...size.resume })
  return { ...figures, [`resume after ${full.resume.steps} steps: ms`]: resumed.resumeP50Ms ?? Number.NaN }
}

export const durable: Suite = {
  name: "durable",
  measures: "workflows of durable steps, until the result of the workflow is stored",
  hasShort: true,
  headlines: ["1 client: p50 ms per step", "32 clients: steps/s"],
  open: ({ isShort }) =>
    openPrograms({
      programs: [
        ...limits,
        workflowsOnSqlite,
        workflowsOnPostgres,
        ...(isShort ? [] : [dbosWorkflows, restateWorkflows])
      ],
      prepare: (program, contender) => measure(program, contender, isShort ? short : warmUp),
      measure: (program, _, contender) => measure(program, contender, isShort ? short : full),
      settings: {
        workflow: `${steps} steps, one after the other; each step is stored before the next one starts`,
        "per step": "duration of a workflow, from its start until its result is stored, divided by its steps",
        CPU: "of the program and its child processes, which for Restate is the server as well; without that of PostgreSQL",
        limits: "one commit per step, and no user code",
        resume: `a suspended workflow of ${full.resume.steps} stored steps receives a signal, and continues after its replay; waiting workflows of DBOS stay in memory and replay nothing`
      }
    })
}
