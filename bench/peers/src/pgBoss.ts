/**
 * pg-boss, whose workers take many jobs at once; each job has its own output. They are told of new jobs where that makes
 * it quicker (`latency`): commits that notify wait for each other, so that many publishers are quicker without.
 */
import { PgBoss } from "pg-boss"
import { type Job, type JobProgram, jobOf, type ProgramOptions, resultOf } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import { Starts } from "../../src/programs/Starts.ts"
import { peerVersion } from "../../src/targets/Peers.ts"

const queue = "jobs"
const workers = { batchSize: 500, localConcurrency: 2 }
const connections = 10

const open = async ({ url, variant }: ProgramOptions): Promise<JobProgram> => {
  if (url === undefined) throw new Error("pg-boss needs the address of a PostgreSQL")
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
        starts.note(n)
        return { id, status: "completed" as const, output: resultOf(n) }
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
      const id = await boss.send(queue, jobOf(n))
      if (id === null) throw new Error(`pg-boss did not take job ${n}`)
      ids.set(n, id)
      published++
    },
    publishMany: async (first, count) => {
      const jobs = Array.from({ length: count }, (_, index) => ({ data: jobOf(first + index) }))
      const made = await boss.insert(queue, jobs, { returnId: true })
      made?.forEach((id, index) => void ids.set(first + index, id))
      published += count
    },
    // What is handled is stored a little later: the rows are counted when all should be there.
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
