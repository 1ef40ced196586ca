/** DBOS: a job is a workflow with rows for its start and result; a flow is a workflow of three steps. */
import { DBOS } from "@dbos-inc/dbos-sdk"
import { type Job, type JobProgram, makeJob, type ProgramOptions, toResult } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import { Starts } from "../../src/programs/Starts.ts"
import { peerVersion } from "../../src/targets/Peers.ts"

const connections = 20

const open = async ({ url }: ProgramOptions): Promise<JobProgram> => {
  if (url === undefined) throw new Error("DBOS needs the URL of PostgreSQL")
  const starts = new Starts()
  const work = DBOS.registerWorkflow(
    async ({ n }: Job) => {
      starts.record(n)
      return toResult(n)
    },
    { name: "work" }
  )
  const flow = DBOS.registerWorkflow(
    async (n: number) => {
      for (const name of ["first", "second", "third"]) await DBOS.runStep(async () => toResult(n), { name })
      return toResult(n)
    },
    { name: "flow" }
  )
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: url,
    systemDatabasePoolSize: connections,
    logLevel: "error"
  })
  await DBOS.launch()
  let finished = 0
  const toId = (n: number) => `job-${n}`
  const publish = async (n: number): Promise<void> => {
    const handle = await DBOS.startWorkflow(work, { workflowID: toId(n) })(makeJob(n))
    // Resolves when the result is stored.
    void handle.getResult().then(() => finished++)
  }
  return {
    settings: {
      versions: `DBOS ${peerVersion("@dbos-inc/dbos-sdk")}, pg ${peerVersion("pg")}`,
      tuned: `workflows start in the calling process, without a polled queue; systemDatabasePoolSize ${connections}`,
      "in bulk": "each workflow is started separately, a whole batch concurrently; there is no bulk API"
    },
    publish,
    publishMany: async (first, count) => {
      await Promise.all(Array.from({ length: count }, (_, index) => publish(first + index)))
    },
    finished: async () => finished,
    result: async (n) => DBOS.retrieveWorkflow(toId(n)).getResult(),
    startedAt: (n) => starts.of(n),
    flow: async (n) => {
      await (await DBOS.startWorkflow(flow, { workflowID: `flow-${n}` })(n)).getResult()
    },
    close: () => DBOS.shutdown()
  }
}

await serve(open)
