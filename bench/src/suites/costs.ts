/** What a call and a job cost in processor time, thread by thread: the profile of what the other suites measure. */
import { postgres } from "@weft/tooling/services"
import { type LoadPlan, openLoader } from "../load/Load.ts"
import type { Measurement } from "../programs/Command.ts"
import { startProgram } from "../programs/ProgramProcess.ts"
import { weft } from "../programs/Programs.ts"
import type { Figures } from "../Row.ts"
import type { Contender, Suite } from "../Suite.ts"
import { type MachineTime, machineTime, type Thread, threadsOf } from "../targets/ProcessorTime.ts"
import { treeOf } from "../targets/ProcessTree.ts"
import { startPlain, startWeft } from "../targets/Server.ts"

/** What is looked at while it works. */
interface Subject {
  /** The process that answers or publishes. What comes from it are its runners. */
  readonly pid: number
  readonly database: number | null
  /** Works for some seconds; how many calls or jobs that were. */
  readonly work: () => Promise<number>
  readonly close: () => Promise<void>
}

const threads: Readonly<Record<string, string>> = {
  "weft-journal": "the journal's",
  V8Worker: "the engine's helpers"
}

const partOf = (thread: Thread, { pid }: Subject, database: ReadonlySet<number>): string => {
  if (database.has(thread.pid)) return "database server"
  const isFirst = thread.tid === thread.pid
  const isHost = thread.pid === pid
  // Those of the isolates have no name of their own.
  const others = isHost ? "others" : "the isolates'"
  return `${isHost ? "host" : "runners"}, ${isFirst ? "main thread" : (threads[thread.name] ?? others)}`
}

const parts = [
  "host, main thread",
  "host, the journal's",
  "host, the engine's helpers",
  "host, others",
  "runners, main thread",
  "runners, the isolates'",
  "runners, the engine's helpers",
  "database server"
]

const micros = 1e6

const measure = async (subject: Subject): Promise<Figures> => {
  const database = new Set(subject.database === null ? [] : treeOf(subject.database))
  const pids = [...treeOf(subject.pid), ...database]
  const [threadsBefore, machineBefore, began] = [threadsOf(pids), machineTime(), performance.now()]
  const done = await subject.work()
  const seconds = (performance.now() - began) / 1000
  const machine = since(machineBefore)
  const spent = new Map<string, number>()
  let [user, system] = [0, 0]
  for (const thread of threadsOf(pids).values()) {
    const before = threadsBefore.get(thread.tid)
    const ofUser = thread.user - (before?.user ?? 0)
    const ofSystem = thread.system - (before?.system ?? 0)
    const part = partOf(thread, subject, database)
    spent.set(part, (spent.get(part) ?? 0) + ofUser + ofSystem)
    user += ofUser
    system += ofSystem
  }
  const all = machine.busy + machine.idle + machine.stolen
  const each = (ofAll: number): number => (ofAll / done) * micros
  return {
    ...Object.fromEntries(
      parts.flatMap((part) => (spent.has(part) ? [[`${part}, µs`, each(spent.get(part) ?? 0)]] : []))
    ),
    "together, µs": each(user + system),
    "of it the system, µs": each(system),
    "who asks, and all else, µs": each(Math.max(0, machine.busy - user - system)),
    "processors idle, %": (machine.idle / all) * 100,
    "processors with other machines, %": (machine.stolen / all) * 100,
    "done per second": done / seconds
  }
}

const since = (before: MachineTime): MachineTime => {
  const now = machineTime()
  return { busy: now.busy - before.busy, idle: now.idle - before.idle, stolen: now.stolen - before.stolen }
}

const source = `
export const hello = () => ({ status: 200, body: { hello: "world", items: 0 } })
hello.meta = { webhook: { service: "hello", path: "/hello", method: "GET" } }
`

/** Called by 32 clients, for the same time after the same warm-up. */
const called = async (url: string, rest: Pick<Subject, "pid" | "close">): Promise<Subject> => {
  const loader = openLoader()
  const plan: LoadPlan = { urls: [url], method: "GET", clients: 32, warmupSeconds: 0, seconds: 4 }
  const work = async (): Promise<number> => {
    const { perSecond, failures } = await loader.load(plan)
    if (failures > 0) throw new Error(`${failures} requests failed`)
    return perSecond * plan.seconds
  }
  await work()
  const close = async (): Promise<void> => {
    loader.close()
    await rest.close()
  }
  return { ...rest, database: null, work, close }
}

const plainCalls = async (): Promise<Subject> => {
  const server = await startPlain()
  return called(server.url, server)
}

const weftCalls = async (): Promise<Subject> => {
  const server = await startWeft({ hello: source })
  return called(`${server.url}/webhook/default/production/hello/hello`, server)
}

const [onSqlite, onPostgres] = weft("jobs")

const jobs = async (program: typeof onSqlite, measurement: Measurement): Promise<Subject> => {
  if (program === undefined) throw new Error("There is no such program")
  const server =
    program.service === "postgres"
      ? await postgres({ durable: true, settings: { shared_buffers: "512MB", max_wal_size: "4GB" } })
      : null
  const { file, variant } = program
  const started = await startProgram({
    file,
    ...(variant === undefined ? {} : { variant }),
    ...(server === null ? {} : { url: server.url })
  })
  const work = async (): Promise<number> => (await started.measure(measurement)).jobs ?? Number.NaN
  await work()
  const close = async (): Promise<void> => {
    await started.close()
    await server?.remove()
  }
  return { pid: started.pid, database: server?.pid() ?? null, work, close }
}

const oneByOne: Measurement = { kind: "oneByOne", publishers: 32, seconds: 4, jobsMax: 100_000 }
const inBulk: Measurement = { kind: "bulk", jobs: 20_000, batch: 1_000 }

const subjects: ReadonlyArray<readonly [name: string, begin: () => Promise<Subject>]> = [
  ["a call of plain node:http", plainCalls],
  ["a webhook of Weft", weftCalls],
  ["a job one by one, SQLite", () => jobs(onSqlite, oneByOne)],
  ["a job in bulk, SQLite", () => jobs(onSqlite, inBulk)],
  ["a job one by one, PostgreSQL", () => jobs(onPostgres, oneByOne)],
  ["a job in bulk, PostgreSQL", () => jobs(onPostgres, inBulk)]
]

export const costs: Suite = {
  name: "costs",
  isExtra: true,
  measures: "processor time of a webhook and of a job, by who spends it",
  headlines: ["together, µs"],
  open: async () => ({
    contenders: subjects.map(
      ([name, begin]): Contender => ({
        name,
        // Each begins and ends by itself: what rests beside it would take its share.
        measure: async () => {
          const subject = await begin()
          try {
            return await measure(subject)
          } finally {
            await subject.close()
          }
        }
      })
    ),
    settings: {
      webhooks:
        "GET, 32 clients for 4 s, after as long a time that is not measured; the run with its result on the disk",
      jobs: "of 1 KB, by 32 publishers in the host's main thread for 4 s, or 20,000 in batches of 1,000, after as many that are not measured",
      "the engine's helpers": "collect garbage and compile",
      "who asks, and all else":
        "what the machine did meanwhile for nobody of the above: clients, and what waits on the disk for them"
    },
    close: async () => undefined
  })
}
