/** graphile-worker. It stores no results: its task stores them, as a user's would; `no results` is without that. */
import { EventEmitter } from "node:events"
import { type AddJobsJobSpec, Logger, makeWorkerUtils, run, type WorkerEvents } from "graphile-worker"
import pg from "pg"
import { type Job, type JobProgram, jobOf, type ProgramOptions, resultOf } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import { Starts } from "../../src/programs/Starts.ts"
import { peerVersion } from "../../src/targets/Peers.ts"

/** As its page on performance has it. */
const batching = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }
const worker = { concurrentJobs: 24, maxPoolSize: 25 }

declare global {
  namespace GraphileWorker {
    interface Tasks {
      job: Job
    }
  }
}

const open = async ({ url, variant = "" }: ProgramOptions): Promise<JobProgram> => {
  if (url === undefined) throw new Error("graphile-worker needs the address of a PostgreSQL")
  const isStoring = variant !== "no results"
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on("error", fail)
  await pool.query("CREATE TABLE results (job BIGINT PRIMARY KEY, result JSONB NOT NULL)")
  const starts = new Starts()
  const events: WorkerEvents = new EventEmitter()
  let published = 0
  let ended = 0
  events.on("job:error", ({ error }) => fail(error))
  events.on("job:success", () => ended++)
  const left = async (): Promise<number> => {
    const { rows } = await pool.query<{ left: string }>("SELECT count(*) AS left FROM graphile_worker.jobs")
    return Number(rows[0]?.left)
  }
  const logger = new Logger(() => () => undefined)
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  const runner = await run({
    connectionString: url,
    events,
    logger,
    noHandleSignals: true,
    preset: { worker: { ...worker, ...batching } },
    taskList: {
      job: async ({ n }, { query }) => {
        starts.note(n)
        const result = JSON.stringify(resultOf(n))
        if (isStoring) await query("INSERT INTO results VALUES ($1, $2)", [n, result])
      }
    }
  })
  return {
    settings: {
      versions: `graphile-worker ${peerVersion("graphile-worker")}, pg ${peerVersion("pg")}`,
      results: isStoring ? "the task inserts its result into a table, since graphile-worker stores none" : "not stored",
      tuned:
        "as its page on performance has it: concurrentJobs 24, maxPoolSize 25, localQueue of 500, completeJobBatchDelay 0; addJobs"
    },
    publish: async (n) => {
      await utils.addJob("job", jobOf(n))
      published++
    },
    publishMany: async (first, count) => {
      const jobs: ReadonlyArray<AddJobsJobSpec> = Array.from({ length: count }, (_, index) => ({
        identifier: "job",
        payload: jobOf(first + index)
      }))
      await utils.addJobs(jobs)
      published += count
    },
    // What has ended is gone a little later: what is left is counted when nothing should be.
    finished: async () => (ended < published ? ended : published - (await left())),
    ...(isStoring
      ? {
          result: async (n: number) => {
            const { rows } = await pool.query<{ result: unknown }>("SELECT result FROM results WHERE job = $1", [n])
            return rows[0]?.result
          }
        }
      : {}),
    startedAt: (n) => starts.of(n),
    close: async () => {
      await runner.stop()
      await utils.release()
      await pool.end()
    }
  }
}

const fail = (error: unknown): never => {
  throw error
}

await serve(open)
