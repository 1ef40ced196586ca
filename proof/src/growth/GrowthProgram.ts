/** Measures Weft in this process, on an existing database with one project in each environment. */
import { setTimeout as sleep } from "node:timers/promises"
import { bundle, type LoadPlan, load, sha256 } from "@weft/bench/instruments"
import { Driver, type Figures, type JobProgram, makeJob } from "@weft/bench/suites"
import { EnvId, start, type WeftEnv } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Postgres from "@weft/postgres"
import * as IsolatedVm from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { makeEnvId } from "../scale/Fill.ts"
import type { GrowthAnswer, GrowthLengths, GrowthOptions } from "./GrowthProcess.ts"
import { openPostgres, openSqlite, type StoredRuns } from "./StoredRuns.ts"

const source = `
export const hello = () => ({ status: 200, body: { hello: "world" } })
hello.meta = { webhook: { service: "bench", path: "/hello", method: "GET" } }
export const onJob = (event) => ({ done: event.event_data.n })
onJob.meta = { event: "job" }
export const onTimed = () => Date.now()
onTimed.meta = { event: "timed" }
`

const clients = 32

/** Time in which an idle system has handled an event, in milliseconds. Earlier polls would disturb it. */
const settledMs = 4

const pageOfRuns = { limit: 50, offset: 0 }

/** Number of events whose runs are listed. */
const eventsListed = 5

/** Concurrent deployments. */
const deployedAtOnce = 8

interface Env {
  readonly id: string
  readonly env: WeftEnv
}

/** Assigns numbers to environments in turn. */
const envFor = (envs: ReadonlyArray<Env>, n: number): Env => {
  const env = envs[n % envs.length]
  if (env === undefined) throw new Error("The growth suite needs at least one environment")
  return env
}

const deploy = async (env: WeftEnv): Promise<void> => {
  const zip = bundle(source)
  await env.projects.create({ name: "bench" })
  const { build } = await env.builds.upload("bench", { zip, hash: sha256(zip) })
  await env.builds.deploy("bench", build.build_id)
}

/** Returns a job program that publishes events of the type, each in the next environment. */
const makeJobs = (envs: ReadonlyArray<Env>, type: string, stored: StoredRuns): JobProgram => {
  const events = new Map<number, string>()
  const publish = async (n: number): Promise<void> => {
    const { event_id } = await envFor(envs, n).env.events.publish({ type, data: makeJob(n) })
    events.set(n, event_id)
  }
  const result = async (n: number): Promise<unknown> => {
    const text = await stored.readResult(envFor(envs, n).id, events.get(n) ?? "")
    return text === undefined ? undefined : JSON.parse(text)
  }
  return {
    settings: {},
    publish,
    publishMany: async (first, count) => {
      await Promise.all(Array.from({ length: count }, (_, index) => publish(first + index)))
    },
    finished: async () => events.size - (await stored.pending()),
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

/** Returns the median of sequential requests in milliseconds, each in the next environment. */
const median = async (
  envs: ReadonlyArray<Env>,
  samples: number,
  request: (env: WeftEnv) => Promise<unknown>
): Promise<number> => {
  const taken: Array<number> = []
  for (let sample = 0; sample < samples; sample++) {
    const { env } = envFor(envs, sample)
    const began = performance.now()
    await request(env)
    taken.push(performance.now() - began)
  }
  return taken.sort((a, b) => a - b)[taken.length >> 1] ?? Number.NaN
}

/** Measures the list of runs of the latest event in each environment. */
const measureRunsOfEvent = async (envs: ReadonlyArray<Env>): Promise<number> => {
  const latest = new Map<WeftEnv, string>()
  for (const { env } of envs.slice(0, eventsListed)) {
    const { items } = await env.events.list({ limit: 1, offset: 0 })
    latest.set(env, items[0]?.event_id ?? "")
  }
  return median(envs.slice(0, eventsListed), eventsListed, (env) => env.events.runs(latest.get(env) ?? ""))
}

const open = async ({ file, url, dir, envs: count }: GrowthOptions) => {
  const weft = await start({
    ...(url === undefined
      ? { database: Sqlite.database({ file }), cluster: MemoryStores.cluster }
      : { database: Postgres.database({ url }), cluster: Postgres.cluster({ url }) }),
    blobs: Filesystem.blobs({ dir: `${dir}/blobs` }),
    sandbox: IsolatedVm.sandbox(),
    masterKeys: [Filesystem.masterKey({ file: `${dir}/master.key` })]
  })
  const envs = Array.from({ length: count }, (_, index): Env => {
    const id = EnvId.make(makeEnvId(index + 1))
    return { id, env: weft.env(id) }
  })
  const toDeploy = envs.values()
  const deployer = async (): Promise<void> => {
    for (const { env } of toDeploy) await deploy(env)
  }
  await Promise.all(Array.from({ length: deployedAtOnce }, deployer))
  const server = await Http.listen(weft, { port: 0 })
  const [first, ...others] = envs.map((_, index) => `${server.url}/webhook/org-${index + 1}/main/bench/hello`)
  if (first === undefined) throw new Error("The growth suite needs at least one environment")
  const urls: LoadPlan["urls"] = [first, ...others]
  for (const hook of urls) await fetch(hook).then((response) => response.text())
  const stored = url === undefined ? openSqlite(file) : await openPostgres(url)
  const jobs = new Driver(makeJobs(envs, "job", stored))
  const timed = new Driver(makeJobs(envs, "timed", stored))

  const measure = async ({ seconds, warmupSeconds, samples }: GrowthLengths): Promise<Figures> => {
    const hooks = await load({ urls, method: "GET", clients, warmupSeconds, seconds })
    if (hooks.failures > 0) throw new Error(`${hooks.failures} webhooks failed`)
    const one = await jobs.measure({ kind: "oneByOne", publishers: clients, seconds, jobsMax: 1_000_000 })
    const idle = await timed.measure({ kind: "latency", samples })
    return {
      "webhook, 32 clients: req/s": hooks.perSecond,
      "one by one: finished per second": one.finishedPerSecond ?? Number.NaN,
      "publish → user code starts: p50 ms": idle.startedP50Ms ?? Number.NaN,
      "a page of runs: p50 ms": await median(envs, samples, (env) => env.runs.list({}, pageOfRuns)),
      "the runs of an event: p50 ms": await measureRunsOfEvent(envs)
    }
  }
  const close = async (): Promise<void> => {
    await stored.close()
    await server.close()
    await weft.close()
  }
  return { measure, close }
}

const send = (answer: GrowthAnswer): Promise<void> =>
  new Promise((resolve) => void process.send?.(JSON.stringify(answer), () => resolve()))

const fail = async (error: unknown): Promise<never> => {
  await send({ kind: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return process.exit(1)
}

process.on("unhandledRejection", fail)
process.once("disconnect", () => process.exit(1))
const { measure, close } = await open(JSON.parse(process.argv[2] ?? "{}")).catch(fail)
process.on("message", async (text) => {
  const lengths: GrowthLengths | null = JSON.parse(String(text))
  if (lengths !== null) return send({ kind: "measured", figures: await measure(lengths).catch(fail) })
  await close().catch(fail)
  process.exit(0)
})
await send({ kind: "ready" })
