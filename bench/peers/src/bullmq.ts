/** BullMQ on Redis, or on PostgreSQL if the URL is one of PostgreSQL. */
import type { EventEmitter } from "node:events"
import {
  type BackendClasses,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  runMigrations,
  withBackend
} from "bullmq"
import pg from "pg"
import { type Job, type JobProgram, makeJob, type ProgramOptions, toResult } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import { Starts } from "../../src/programs/Starts.ts"
import { peerVersion } from "../../src/targets/Peers.ts"

/** The documentation shows 50 for jobs that compute little. */
const concurrency = 50

/** Connections of each pool on PostgreSQL, the default of node-postgres. */
const connections = 10

type Result = ReturnType<typeof toResult>

const open = async ({ url }: ProgramOptions): Promise<JobProgram> => {
  if (url === undefined) throw new Error("BullMQ needs the URL of Redis or PostgreSQL")
  if (!url.startsWith("postgres")) {
    return program(withBackend(createRedisBackend), parseRedis(url), {
      versions: `bullmq ${peerVersion("bullmq")}, ioredis ${peerVersion("ioredis")}`,
      durability: "Redis with appendonly yes, appendfsync always; jobs and results are stored",
      tuned: `a worker of concurrency ${concurrency}, addBulk`
    })
  }
  await migrate(url)
  return program(
    withBackend(createPostgresBackend),
    { connectionString: url, max: connections },
    {
      versions: `bullmq ${peerVersion("bullmq")} with its PostgreSQL backend, pg ${peerVersion("pg")}`,
      durability: "same as the PostgreSQL server; jobs and results are stored",
      tuned: `a worker of concurrency ${concurrency}, pools of ${connections} connections, addBulk`
    }
  )
}

const parseRedis = (url: string) => {
  const { hostname, port, password } = new URL(url)
  // Workers of BullMQ require null.
  return { host: hostname, port: Number(port), password, maxRetriesPerRequest: null }
}

const migrate = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await runMigrations(client)
  await client.end()
}

const toId = (n: number): string => `job-${n}`

const program = async <B extends IQueueBackend, C>(
  { Queue, Worker, QueueEvents, FlowProducer }: BackendClasses<B, C>,
  connection: C,
  settings: JobProgram["settings"]
): Promise<JobProgram> => {
  const queue = new Queue<Job, Result>("jobs", { connection })
  const flows = new FlowProducer({ connection })
  const events = new QueueEvents<Result>("steps", { connection })
  const starts = new Starts()
  let finished = 0
  const worker = new Worker<Job, Result>(
    "jobs",
    async ({ data }) => {
      starts.record(data.n)
      return toResult(data.n)
    },
    { connection, concurrency }
  )
  // Emitted when the result is stored.
  worker.on("completed", () => finished++)
  const stepper = new Worker<Job, Result>("steps", async ({ data }) => toResult(data.n), { connection, concurrency })
  const parts: ReadonlyArray<EventEmitter> = [queue, flows, events, worker, stepper]
  for (const part of parts) {
    // Each flow in flight adds a listener.
    part.setMaxListeners(0)
    part.on("error", fail)
  }
  await Promise.all([queue, events, worker, stepper].map((part) => part.waitUntilReady()))
  return {
    settings,
    publish: async (n) => {
      await queue.add("job", makeJob(n), { jobId: toId(n) })
    },
    publishMany: async (first, count) => {
      const jobs = Array.from({ length: count }, (_, index) => ({
        name: "job",
        data: makeJob(first + index),
        opts: { jobId: toId(first + index) }
      }))
      await queue.addBulk(jobs)
    },
    finished: async () => finished,
    result: async (n) => (await queue.getJob(toId(n)))?.returnvalue,
    startedAt: (n) => starts.of(n),
    // A job waits for its children, so the last step is the root.
    flow: async (n) => {
      const step = (name: string) => ({ name, queueName: "steps", data: makeJob(n) })
      const { job } = await flows.add({
        ...step("third"),
        children: [{ ...step("second"), children: [step("first")] }]
      })
      await job.waitUntilFinished(events)
    },
    close: async () => {
      await Promise.all([worker.close(), stepper.close()])
      await Promise.all([queue.close(), flows.close(), events.close()])
    }
  }
}

const fail = (error: Error): never => {
  throw error
}

await serve(open)
