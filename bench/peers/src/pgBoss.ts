/**
 * pg-boss with workers that take many jobs at once; each job has its own output. LISTEN/NOTIFY is used only for
 * `latency`, because commits that notify wait for each other, which slows many publishers down.
 */
import { PgBoss } from "pg-boss"
import { type Job, type JobProgram, makeJob, type ProgramOptions, toResult } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import { Starts } from "../../src/programs/Starts.ts"
import { peerVersion } from "../../src/targets/Peers.ts"

const queue = "jobs"
const workers = { batchSize: 500, localConcurrency: 2 }
const connections = 10

const open = async ({ url, variant }: ProgramOptions): Promise<JobProgram> => {
  if (url === undefined) throw new Error("pg-boss needs the URL of PostgreSQL")
  const notify = variant === "latency"
  const boss = new PgBoss({ connectionString: url, max: connections, useListenNotify: notify })
  boss.on("error", (error) => {
    throw error
  })
  await boss.start()
  await boss.createQueue(queue, { notify })
  const starts = new Starts()
  const ids = new Map<number, string>()
  let published = 0
  let handled = 0
  await boss.work<Job>(
    queue,
    { ...workers, perJobResults: true, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
    async (jobs) => {
      const results = jobs.map(({ id, data: { n } }) => {
        starts.record(n)
        return { id, status: "completed" as const, output: toResult(n) }
      })
      handled += jobs.length
      return results
    }
  )
  const stored = async (): Promise<number> => {
    const { rows } = await boss.getDb().executeSql("SELECT count(*) AS n FROM pgboss.job WHERE state = 'completed'")
    return Number(rows[0]?.n)
  }
  return {
    settings: {
      versions: `pg-boss ${peerVersion("pg-boss")}, pg ${peerVersion("pg")}`,
      tuned: `${notify ? "useListenNotify" : "polled every 0.5 s"}, ${workers.localConcurrency} workers with batchSize ${workers.batchSize}, burstWhenBatchFull, perJobResults; ${connections} connections; insert`
    },
    publish: async (n) => {
      const id = await boss.send(queue, makeJob(n))
      if (id === null) throw new Error(`pg-boss rejected job ${n}`)
      ids.set(n, id)
      published++
    },
    publishMany: async (first, count) => {
      const jobs = Array.from({ length: count }, (_, index) => ({ data: makeJob(first + index) }))
      const made = await boss.insert(queue, jobs, { returnId: true })
      made?.forEach((id, index) => void ids.set(first + index, id))
      published += count
    },
    // Results are stored a little later, so rows are counted only when all jobs are handled.
    finished: () => (handled < published ? Promise.resolve(handled) : stored()),
    result: async (n) => {
      const [job] = await boss.findJobs(queue, { id: ids.get(n) ?? "" })
      return job?.output
    },
    startedAt: (n) => starts.of(n),
    close: () => boss.stop({ graceful: false })
  }
}

await serve(open)
