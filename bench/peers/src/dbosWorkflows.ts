/** DBOS as a program of workflows. Suspended workflows stay in the memory of the process. */
import { DBOS } from "@dbos-inc/dbos-sdk"
import { type ProgramOptions, toResult } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import type { WorkflowProgram } from "../../src/programs/WorkflowProgram.ts"
import { peerVersion } from "../../src/targets/Peers.ts"
import { Continued, forEachConcurrently } from "./Workflows.ts"

const connections = 20

/** Concurrent starts of workflows, because there is no bulk API. */
const starters = 64

/** Longest wait for a signal, in seconds. */
const signalSeconds = 3600

const open = async ({ url }: ProgramOptions): Promise<WorkflowProgram> => {
  if (url === undefined) throw new Error("DBOS needs the URL of PostgreSQL")
  const continued = new Continued()
  const step = (n: number) => DBOS.runStep(async () => toResult(n), { name: "step" })
  const sequence = DBOS.registerWorkflow(
    async (n: number, steps: number) => {
      for (let done = 0; done < steps; done++) await step(n)
      return { n }
    },
    { name: "sequence" }
  )
  const fanOut = DBOS.registerWorkflow(
    async (n: number, steps: number) => {
      await Promise.all(Array.from({ length: steps }, () => step(n)))
      return { n }
    },
    { name: "fanOut" }
  )
  const sleeper = DBOS.registerWorkflow(
    async (n: number, until: number) => {
      const sleeping = DBOS.sleep(until - Date.now())
      continued.suspend(n)
      await sleeping
      continued.record(n)
      return { n }
    },
    { name: "sleeper" }
  )
  const waiter = DBOS.registerWorkflow(
    async (n: number, steps: number) => {
      for (let done = 0; done < steps; done++) await step(n)
      const waiting = DBOS.recv("signal", signalSeconds)
      continued.suspend(n)
      await waiting
      continued.record(n)
      return { n }
    },
    { name: "waiter" }
  )
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: url,
    systemDatabasePoolSize: connections,
    logLevel: "error"
  })
  await DBOS.launch()
  const toId = (n: number): string => `workflow-${n}`
  const start = (workflow: typeof sequence, n: number, argument: number) =>
    DBOS.startWorkflow(workflow, { workflowID: toId(n) })(n, argument)
  const run = async (workflow: typeof sequence, n: number, steps: number): Promise<void> => {
    await (await start(workflow, n, steps)).getResult()
  }
  const startAll = (workflow: typeof sequence, first: number, count: number, argumentOf: (n: number) => number) =>
    forEachConcurrently(first, count, starters, async (n) => {
      await start(workflow, n, argumentOf(n))
    })
  return {
    settings: {
      versions: `DBOS ${peerVersion("@dbos-inc/dbos-sdk")}, pg ${peerVersion("pg")}`,
      tuned: `workflows start in the calling process, without a polled queue; systemDatabasePoolSize ${connections}; ${starters} concurrent starts`
    },
    sequence: (n, steps) => run(sequence, n, steps),
    fanOut: (n, steps) => run(fanOut, n, steps),
    waits: {
      replays: false,
      sleep: (first, count, until) => startAll(sleeper, first, count, until),
      wait: (first, count, steps) => startAll(waiter, first, count, () => steps),
      suspended: async () => continued.suspended,
      signal: (n) => DBOS.send(toId(n), "go", "signal"),
      continued: (n) => continued.of(n)
    },
    close: () => DBOS.shutdown()
  }
}

await serve(open)
