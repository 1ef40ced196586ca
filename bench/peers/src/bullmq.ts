/** BullMQ on Redis or, where the address is PostgreSQL's, on its own tables there. */
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
import { type Job, type JobProgram, jobOf, type ProgramOptions, resultOf } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import { Starts } from "../../src/programs/Starts.ts"
import { peerVersion } from "../../src/targets/Peers.ts"

/** The documentation shows 50 for jobs that compute little. */
const concurrency = 50

/** Connections of each pool on PostgreSQL; node-postgres has as many by default. */
const connections = 10

type Result = ReturnType<typeof resultOf>

const open = async ({ url }: ProgramOptions): Promise<JobProgram> => {
  if (url === undefined) throw new Error("BullMQ needs the address of a Redis or a PostgreSQL")
  if (!url.startsWith("postgres")) {
    return program(withBackend(createRedisBackend), redisOf(url), {
      versions: `bullmq ${peerVersion("bullmq")}, ioredis ${peerVersion("ioredis")}`,
      durability: "Redis with appendonly yes, appendfsync always; jobs and results are kept",
      tuned: `a worker of concurrency ${concurrency}, addBulk`
    })
  }
  await migrate(url)
  return program(
    withBackend(createPostgresBackend),
    { connectionString: url, max: connections },
    {
      versions: `bullmq ${peerVersion("bullmq")} with its PostgreSQL backend, pg ${peerVersion("pg")}`,
      durability: "as the PostgreSQL server's; jobs and results are kept",
      tuned: `a worker of concurrency ${concurrency}, pools of ${connections} connections, addBulk`
    }
  )
}

const redisOf = (url: string) => {
  const { hostname, port, password } = new URL(url)
  // Null is what its workers ask for.
  return { host: hostname, port: Number(port), password, maxRetriesPerRequest: null }
}

const migrate = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await runMigrations(client)
  await client.end()
}

const idOf = (n: number): string => `job-${n}`

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
      starts.note(data.n)
      return resultOf(data.n)
    },
    { connection, concurrency }
  )
  // Told when the result is stored.
  worker.on("completed", () => finished++)
  const stepper = new Worker<Job, Result>("steps", async ({ data }) => resultOf(data.n), { connection, concurrency })
  const parts: ReadonlyArray<EventEmitter> = [queue, flows, events, worker, stepper]
  for (const part of parts) {
    // Each flow under way listens.
    part.setMaxListeners(0)
    part.on("error", fail)
  }
  await Promise.all([queue, events, worker, stepper].map((part) => part.waitUntilReady()))
  return {
    settings,
    publish: async (n) => {
      await queue.add("job", jobOf(n), { jobId: idOf(n) })
    },
    publishMany: async (first, count) => {
      const jobs = Array.from({ length: count }, (_, index) => ({
        name: "job",
        data: jobOf(first + index),
        opts: { jobId: idOf(first + index) }
      }))
      await queue.addBulk(jobs)
    },
    finished: async () => finished,
    result: async (n) => (await queue.getJob(idOf(n)))?.returnvalue,
    startedAt: (n) => starts.of(n),
    // A job waits for its children: the last step is the root.
    flow: async (n) => {
      const step = (name: string) => ({ name, queueName: "steps", data: jobOf(n) })
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
