/** graphile-worker. It stores no results, so the task stores them; the variant `no results` does not. */
import { EventEmitter } from "node:events"
import { type AddJobsJobSpec, Logger, makeWorkerUtils, run, type WorkerEvents } from "graphile-worker"
import pg from "pg"
import { type Job, type JobProgram, makeJob, type ProgramOptions, toResult } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import { Starts } from "../../src/programs/Starts.ts"
import { peerVersion } from "../../src/targets/Peers.ts"

/** Settings of its performance page. */
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
  if (url === undefined) throw new Error("graphile-worker needs the URL of PostgreSQL")
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
  const countRows = async (): Promise<number> => {
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
        starts.record(n)
        const result = JSON.stringify(toResult(n))
        if (isStoring) await query("INSERT INTO results VALUES ($1, $2)", [n, result])
      }
    }
  })
  return {
    settings: {
      versions: `graphile-worker ${peerVersion("graphile-worker")}, pg ${peerVersion("pg")}`,
      results: isStoring
        ? "the task inserts its result into a table, because graphile-worker stores none"
        : "not stored",
      tuned:
        "as on its performance page: concurrentJobs 24, maxPoolSize 25, localQueue of 500, completeJobBatchDelay 0; addJobs"
    },
    publish: async (n) => {
      await utils.addJob("job", makeJob(n))
      published++
    },
    publishMany: async (first, count) => {
      const jobs: ReadonlyArray<AddJobsJobSpec> = Array.from({ length: count }, (_, index) => ({
        identifier: "job",
        payload: makeJob(first + index)
      }))
      await utils.addJobs(jobs)
      published += count
    },
    // Rows of ended jobs are deleted a little later, so rows are counted only when all jobs have ended.
    finished: async () => (ended < published ? ended : published - (await countRows())),
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
