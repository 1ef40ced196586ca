/** Restate as a program of workflows: its server, which calls handlers in this process. */
import { createServer } from "node:http2"
import * as restate from "@restatedev/restate-sdk"
import * as clients from "@restatedev/restate-sdk-clients"
import { freePort } from "@weft/tooling/services"
import { toResult } from "../../src/programs/JobProgram.ts"
import { serve } from "../../src/programs/Serve.ts"
import type { WorkflowProgram } from "../../src/programs/WorkflowProgram.ts"
import { peerVersion } from "../../src/targets/Peers.ts"
import { register, restateServer } from "./RestateServer.ts"
import { Continued, forEachConcurrently } from "./Workflows.ts"

/** Partitions for two cores, as for the jobs. */
const partitions = 4

/** Concurrent starts of workflows, because the ingress accepts them one by one. */
const starters = 256

interface Input {
  readonly n: number
  /** Number of steps, or the end of the sleep in epoch milliseconds. */
  readonly value: number
}

const open = async (): Promise<WorkflowProgram> => {
  const server = await restateServer(partitions)
  const continued = new Continued()
  /** Ids by which waiting workflows receive their signals. */
  const signals = new Map<number, string>()
  const run = restate.service({
    name: "run",
    handlers: {
      sequence: async (context: restate.Context, { n, value }: Input) => {
        for (let done = 0; done < value; done++) await context.run("step", () => toResult(n))
        return { n }
      },
      fanOut: async (context: restate.Context, { n, value }: Input) => {
        await restate.RestatePromise.all(Array.from({ length: value }, () => context.run("step", () => toResult(n))))
        return { n }
      }
    }
  })
  const waits = restate.service({
    name: "waits",
    handlers: {
      sleeper: async (context: restate.Context, { n, value }: Input) => {
        const sleeping = context.sleep(Math.max(0, value - (await context.date.now())))
        continued.suspend(n)
        await sleeping
        continued.record(n)
        return { n }
      },
      waiter: async (context: restate.Context, { n, value }: Input) => {
        for (let done = 0; done < value; done++) await context.run("step", () => toResult(n))
        const { id, promise } = context.awakeable<string>()
        signals.set(n, id)
        continued.suspend(n)
        await promise
        continued.record(n)
        return { n }
      }
    },
    options: { inactivityTimeout: 0 }
  })
  const endpoint = createServer(restate.createEndpointHandler({ services: [run, waits], logger: () => {} }))
  const port = await freePort()
  await new Promise<void>((resolve) => endpoint.listen(port, "127.0.0.1", resolve))
  await register(server.admin, `http://127.0.0.1:${port}`)
  const ingress = clients.connect({ url: server.ingress })
  const runner = ingress.serviceClient(run)
  const sender = ingress.serviceSendClient(waits)
  return {
    settings: {
      versions: `server ${peerVersion("@restatedev/restate-server")}, SDK ${peerVersion("@restatedev/restate-sdk")}`,
      durability: "one node; its log is synced with every batch (rocksdb-disable-wal-fsync = false, the default)",
      tuned: `HTTP/2 to the handlers, ${partitions} partitions; ${starters} concurrent starts; waiting handlers are suspended at once (inactivityTimeout 0)`
    },
    sequence: async (n, steps) => {
      await runner.sequence({ n, value: steps })
    },
    fanOut: async (n, steps) => {
      await runner.fanOut({ n, value: steps })
    },
    waits: {
      replays: true,
      sleep: (first, count, until) =>
        forEachConcurrently(first, count, starters, async (n) => {
          await sender.sleeper({ n, value: until(n) })
        }),
      wait: (first, count, steps) =>
        forEachConcurrently(first, count, starters, async (n) => {
          await sender.waiter({ n, value: steps })
        }),
      suspended: async () => continued.suspended,
      signal: (n) => ingress.resolveAwakeable(signals.get(n) ?? "", "go"),
      continued: (n) => continued.of(n)
    },
    close: async () => {
      await server.remove()
      endpoint.close()
    }
  }
}

await serve(open)
