/** Restate: its server, which calls handlers in this process. */
import { createServer } from "node:http2"
import * as restate from "@restatedev/restate-sdk"
import * as clients from "@restatedev/restate-sdk-clients"
import { freePort } from "@weft/tooling/services"
import { type Job, type JobProgram, makeJob, toResult } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import { Starts } from "../../src/programs/Starts.ts"
import { peerVersion } from "../../src/targets/Peers.ts"
import { post, register, restateServer } from "./RestateServer.ts"

/** Requests in flight while a batch is published, because the ingress accepts jobs one by one. */
const requests = 256

/** Partitions for two cores: with the default of 24, each log sync covers fewer jobs. */
const partitions = 4

const open = async (): Promise<JobProgram> => {
  const server = await restateServer(partitions)
  const starts = new Starts()
  let returned = 0
  const jobs = restate.service({
    name: "jobs",
    handlers: {
      run: async (_: restate.Context, { n }: Job) => {
        starts.record(n)
        returned++
        return toResult(n)
      }
    }
  })
  const steps = restate.service({
    name: "steps",
    handlers: {
      run: async (context: restate.Context, { n }: Job) => {
        for (const name of ["first", "second"]) await context.run(name, () => toResult(n))
        return context.run("third", () => toResult(n))
      }
    }
  })
  const endpoint = createServer(restate.createEndpointHandler({ services: [jobs, steps], logger: () => {} }))
  const port = await freePort()
  await new Promise<void>((resolve) => endpoint.listen(port, "127.0.0.1", resolve))
  await register(server.admin, `http://127.0.0.1:${port}`)

  const ingress = clients.connect({ url: server.ingress })
  const sender = ingress.serviceSendClient(jobs)
  const sent = new Map<number, clients.Send>()
  let published = 0
  const publish = async (n: number): Promise<void> => {
    sent.set(n, await sender.run(makeJob(n), clients.rpc.sendOpts({ idempotencyKey: `job-${n}` })))
    published++
  }
  return {
    settings: {
      versions: `server ${peerVersion("@restatedev/restate-server")}, SDK ${peerVersion("@restatedev/restate-sdk")}`,
      durability: "one node; its log is synced with every batch (rocksdb-disable-wal-fsync = false, the default)",
      tuned: `HTTP/2 to the handlers, ${partitions} partitions; each job has an idempotency key, so that its result is stored; ${requests} concurrent requests for a batch, because there is no bulk API`
    },
    publish,
    publishMany: async (first, count) => {
      let next = first
      const publisher = async (): Promise<void> => {
        while (next < first + count) await publish(next++)
      }
      await Promise.all(Array.from({ length: requests }, publisher))
    },
    finished: async () => (returned < published ? returned : await completed(server.admin)),
    result: async (n) => {
      const send = sent.get(n)
      return send === undefined ? undefined : await ingress.result(send)
    },
    startedAt: (n) => starts.of(n),
    flow: async (n) => {
      await ingress.serviceClient(steps).run(makeJob(n))
    },
    close: async () => {
      await server.remove()
      endpoint.close()
    }
  }
}

/** Counts jobs with a stored result; too slow for frequent calls. */
const completed = async (admin: string): Promise<number> => {
  const query = `SELECT count(*) AS n FROM sys_invocation WHERE target_service_name = 'jobs' AND status = 'completed'`
  const { rows }: { readonly rows: ReadonlyArray<{ readonly n: number }> } = JSON.parse(
    await post(`${admin}/query`, { query })
  )
  return rows[0]?.n ?? 0
}

await serve(open)
