/** Many suspended workflows: their memory, how late sleeps end, and events while runs wait for events. */
import type { Figures } from "../programs/Command.ts"
import type { ProgramProcess } from "../programs/ProgramProcess.ts"
import { openPrograms } from "../programs/ProgramSuite.ts"
import { dbosWorkflows, restateWorkflows, workflowsOnPostgres, workflowsOnSqlite } from "../programs/Programs.ts"
import type { Suite } from "../Suite.ts"

interface Size {
  readonly counts: ReadonlyArray<number>
  readonly spreadSeconds: number
  readonly signals: {
    readonly waiting: number
    readonly seconds: number
    readonly samples: number
    readonly woken: number
  }
}

const full: Size = {
  counts: [10_000, 100_000],
  spreadSeconds: 60,
  signals: { waiting: 100_000, seconds: 3, samples: 100, woken: 5_000 }
}
const short: Size = {
  counts: [50],
  spreadSeconds: 0.5,
  signals: { waiting: 50, seconds: 0.1, samples: 2, woken: 40 }
}

const peers = [dbosWorkflows, restateWorkflows]

const measure = async (program: ProgramProcess, isPeer: boolean, size: Size): Promise<Figures> => {
  const figures: Record<string, number> = {}
  for (const count of size.counts) {
    const taken = await program.measure({ kind: "sleepers", count, spreadSeconds: size.spreadSeconds })
    const prefix = `${count.toLocaleString("en")} sleepers`
    figures[`${prefix}: suspended/s`] = taken.startedPerSecond ?? Number.NaN
    figures[`${prefix}: bytes of heap each`] = taken.heapBytes ?? Number.NaN
    figures[`${prefix}: resident bytes each`] = taken.residentBytes ?? Number.NaN
    figures[`${prefix}: late by, p50 ms`] = taken.lagP50Ms ?? Number.NaN
    figures[`${prefix}: late by, p99 ms`] = taken.lagP99Ms ?? Number.NaN
  }
  if (isPeer) return figures
  const taken = await program.measure({ kind: "signals", ...size.signals })
  const prefix = `${size.signals.waiting.toLocaleString("en")} wait`
  return {
    ...figures,
    "none waits: events/s": taken.withNone ?? Number.NaN,
    [`${prefix}: events of other types/s`]: taken.others ?? Number.NaN,
    [`${prefix}: signals of nobody/s`]: taken.unmatched ?? Number.NaN,
    [`${prefix}: wake by a signal, p50 ms`]: taken.wakeP50Ms ?? Number.NaN,
    [`${prefix}: wake by a signal, p99 ms`]: taken.wakeP99Ms ?? Number.NaN,
    [`${prefix}: woken/s`]: taken.wokenPerSecond ?? Number.NaN
  }
}

export const sleepers: Suite = {
  name: "sleepers",
  measures: "suspended workflows, which sleep or wait for an event",
  hasShort: true,
  // Each round of a program takes several minutes.
  isExtra: true,
  headlines: full.counts.map((count) => `${count.toLocaleString("en")} sleepers: late by, p99 ms`),
  open: ({ isShort }) =>
    openPrograms({
      programs: [workflowsOnSqlite, workflowsOnPostgres, ...(isShort ? [] : peers)],
      prepare: async () => undefined,
      measure: (program, _, contender) => measure(program, peers.includes(contender), isShort ? short : full),
      settings: {
        sleepers: `all sleep before the first is due; their ends are spread over ${full.spreadSeconds} s; late: until the first code after the sleep, by the wall clock in milliseconds`,
        heap: "of the program after a garbage collection, without isolates and other processes",
        resident: "growth of the proportional memory of the program and its child processes, without PostgreSQL",
        events: "32 publishers, each publishes its next event when the previous one is durable"
      }
    })
}
