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
import { type Questions, questionsToPostgres, questionsToSqlite } from "./Questions.ts"

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

/** How often the runs of one event are asked for. */
const eventsAsked = 5

/** Environments whose builds are deployed at once. */
const deployedAtOnce = 8

interface Env {
  readonly id: string
  readonly env: WeftEnv
}

/** Each number's, in turn. */
const envFor = (envs: ReadonlyArray<Env>, n: number): Env => {
  const env = envs[n % envs.length]
  if (env === undefined) throw new Error("There is no environment")
  return env
}

const deploy = async (env: WeftEnv): Promise<void> => {
  const zip = bundle(source)
  await env.projects.create({ name: "bench" })
  const { build } = await env.builds.upload("bench", { zip, hash: sha256(zip) })
  await env.builds.deploy("bench", build.build_id)
}

/** Publishes events of the type, each in the next environment. */
const jobsOf = (envs: ReadonlyArray<Env>, type: string, questions: Questions): JobProgram => {
  const events = new Map<number, string>()
  const publish = async (n: number): Promise<void> => {
    const { event_id } = await envFor(envs, n).env.events.publish({ type, data: jobOf(n) })
    events.set(n, event_id)
  }
  const result = async (n: number): Promise<unknown> => {
    const text = await questions.resultOf(envFor(envs, n).id, events.get(n) ?? "")
    return text === undefined ? undefined : JSON.parse(text)
  }
  return {
    settings: {},
    publish,
    publishMany: async (first, count) => {
      await Promise.all(Array.from({ length: count }, (_, index) => publish(first + index)))
    },
    finished: async () => events.size - (await questions.pending()),
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

/** The median of so many, in milliseconds, one after the other, each in the next environment. */
const median = async (
  envs: ReadonlyArray<Env>,
  samples: number,
  ask: (env: WeftEnv) => Promise<unknown>
): Promise<number> => {
  const taken: Array<number> = []
  for (let sample = 0; sample < samples; sample++) {
    const { env } = envFor(envs, sample)
    const began = performance.now()
    await ask(env)
    taken.push(performance.now() - began)
  }
  return taken.sort((a, b) => a - b)[taken.length >> 1] ?? Number.NaN
}

/** The runs of the latest event of each. */
const runsOfEvent = async (envs: ReadonlyArray<Env>): Promise<number> => {
  const latest = new Map<WeftEnv, string>()
  for (const { env } of envs.slice(0, eventsAsked)) {
    const { items } = await env.events.list({ limit: 1, offset: 0 })
    latest.set(env, items[0]?.event_id ?? "")
  }
  return median(envs.slice(0, eventsAsked), eventsAsked, (env) => env.events.runs(latest.get(env) ?? ""))
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
  const envs = Array.from({ length: count }, (_, index): Env => {
    const id = EnvId.make(envOf(index + 1))
    return { id, env: weft.env(id) }
  })
  const toDeploy = envs.values()
  const deployer = async (): Promise<void> => {
    for (const { env } of toDeploy) await deploy(env)
  }
  await Promise.all(Array.from({ length: deployedAtOnce }, deployer))
  const server = await Http.listen(weft, { port: 0 })
  const [first, ...others] = envs.map((_, index) => `${server.url}/webhook/org-${index + 1}/main/bench/hello`)
  if (first === undefined) throw new Error("There is no environment")
  const urls: LoadPlan["urls"] = [first, ...others]
  for (const hook of urls) await fetch(hook).then((response) => response.text())
  const questions = url === undefined ? questionsToSqlite(file) : await questionsToPostgres(url)
  const jobs = new Driver(jobsOf(envs, "job", questions))
  const timed = new Driver(jobsOf(envs, "timed", questions))

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
      "the runs of an event: p50 ms": await runsOfEvent(envs)
    }
  }
  const close = async (): Promise<void> => {
    await questions.close()
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
