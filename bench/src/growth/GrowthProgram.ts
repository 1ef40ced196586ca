/** Weft on a database that is there already, with one project in each of its environments, measured in this process. */
import { setTimeout as sleep } from "node:timers/promises"
import { EnvId, MemoryStores, start, type WeftEnv } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Postgres from "@weft/postgres"
import * as Sandbox from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { type LoadPlan, load } from "../load/Load.ts"
import type { Figures } from "../programs/Command.ts"
import { Driver } from "../programs/Driver.ts"
import { type JobProgram, jobOf } from "../programs/JobProgram.ts"
import { envOf } from "../scale/Fill.ts"
import { bundle, sha256 } from "../targets/upload.ts"
import type { GrowthAnswer, GrowthLengths, GrowthOptions } from "./GrowthProcess.ts"
import { type Pending, pendingInPostgres, pendingInSqlite } from "./Pending.ts"

const source = `
export const hello = () => ({ status: 200, body: { hello: "world" } })
hello.meta = { webhook: { service: "bench", path: "/hello", method: "GET" } }
export const onJob = (event) => ({ done: event.event_data.n })
onJob.meta = { event: "job" }
export const onTimed = () => Date.now()
onTimed.meta = { event: "timed" }
`

const clients = 32

/** When an idle system is surely done with an event, in milliseconds: to ask sooner would disturb it. */
const settledMs = 4

const pageOfRuns = { limit: 50, offset: 0 }

const deploy = async (env: WeftEnv): Promise<void> => {
  const zip = bundle(source)
  await env.projects.create({ name: "bench" })
  const { build } = await env.builds.upload("bench", { zip, hash: sha256(zip) })
  await env.builds.deploy("bench", build.build_id)
}

/** Publishes events of the type, each in the next environment. */
const jobsOf = (envs: ReadonlyArray<WeftEnv>, type: string, pending: Pending): JobProgram => {
  const events = new Map<number, string>()
  const envFor = (n: number): WeftEnv => {
    const env = envs[n % envs.length]
    if (env === undefined) throw new Error("There is no environment")
    return env
  }
  const publish = async (n: number): Promise<void> => {
    const { event_id } = await envFor(n).events.publish({ type, data: jobOf(n) })
    events.set(n, event_id)
  }
  const result = async (n: number): Promise<unknown> => {
    const [run] = await envFor(n).events.runs(events.get(n) ?? "")
    return run?.status === "succeeded" ? run.result : undefined
  }
  return {
    settings: {},
    publish,
    publishMany: async (first, count) => {
      await Promise.all(Array.from({ length: count }, (_, index) => publish(first + index)))
    },
    finished: async () => events.size - (await pending.count()),
    result,
    startedAt: async (n) => {
      for (let waitMs = settledMs; ; waitMs += 1) {
        await sleep(waitMs)
        const at = await result(n)
        // The guest's clock counts whole milliseconds.
        if (typeof at === "number") return at + 0.5
      }
    },
    close: async () => {}
  }
}

const listing = async (envs: ReadonlyArray<WeftEnv>, samples: number): Promise<number> => {
  const taken: Array<number> = []
  for (let sample = 0; sample < samples; sample++) {
    const began = performance.now()
    await envs[sample % envs.length]?.runs.list({}, pageOfRuns)
    taken.push(performance.now() - began)
  }
  return taken.sort((a, b) => a - b)[taken.length >> 1] ?? Number.NaN
}

const open = async ({ file, url, dir, envs: count }: GrowthOptions) => {
  const weft = await start({
    ...(url === undefined
      ? { stores: Sqlite.stores({ file }), feed: MemoryStores.feed }
      : { stores: Postgres.stores({ url }), feed: Postgres.feed({ url }) }),
    blobs: Filesystem.blobs({ dir: `${dir}/blobs` }),
    sandbox: Sandbox.isolated(),
    masterKeys: [Filesystem.masterKey({ file: `${dir}/master.key` })]
  })
  const envs = Array.from({ length: count }, (_, index) => weft.env(EnvId.make(envOf(index + 1))))
  for (const env of envs) await deploy(env)
  const server = await Http.listen(weft, { port: 0 })
  const [first, ...others] = envs.map((_, index) => `${server.url}/webhook/org-${index + 1}/main/bench/hello`)
  if (first === undefined) throw new Error("There is no environment")
  const urls: LoadPlan["urls"] = [first, ...others]
  for (const hook of urls) await fetch(hook).then((response) => response.text())
  const pending = url === undefined ? pendingInSqlite(file) : await pendingInPostgres(url)
  const jobs = new Driver(jobsOf(envs, "job", pending))
  const timed = new Driver(jobsOf(envs, "timed", pending))

  const measure = async ({ seconds, warmupSeconds, samples }: GrowthLengths): Promise<Figures> => {
    const hooks = await load({ urls, method: "GET", clients, warmupSeconds, seconds })
    if (hooks.failures > 0) throw new Error(`${hooks.failures} webhooks failed`)
    const one = await jobs.measure({ kind: "oneByOne", publishers: clients, seconds, jobsMax: 1_000_000 })
    const idle = await timed.measure({ kind: "latency", samples })
    return {
      "webhook, 32 clients: req/s": hooks.perSecond,
      "one by one: finished per second": one.finishedPerSecond ?? Number.NaN,
      "publish → user code starts: p50 ms": idle.startedP50Ms ?? Number.NaN,
      "a page of runs: p50 ms": await listing(envs, samples)
    }
  }
  const close = async (): Promise<void> => {
    await pending.close()
    await server.close()
    await weft.close()
  }
  return { measure, close }
}

const tell = (answer: GrowthAnswer): Promise<void> =>
  new Promise((resolve) => void process.send?.(JSON.stringify(answer), () => resolve()))

const fail = async (error: unknown): Promise<never> => {
  await tell({ kind: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return process.exit(1)
}

process.on("unhandledRejection", fail)
process.once("disconnect", () => process.exit(1))
const { measure, close } = await open(JSON.parse(process.argv[2] ?? "{}")).catch(fail)
process.on("message", async (text) => {
  const lengths: GrowthLengths | null = JSON.parse(String(text))
  if (lengths !== null) return tell({ kind: "measured", figures: await measure(lengths).catch(fail) })
  await close().catch(fail)
  process.exit(0)
})
await tell({ kind: "ready" })
