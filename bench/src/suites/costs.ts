/** CPU time of a call and of a job by thread: a profile of the other suites. */
import { postgres } from "@weft/tooling/services"
import { listThreads, type MachineTime, machineTime, type Thread } from "../instruments/ProcessorTime.ts"
import { listTree } from "../instruments/ProcessTree.ts"
import { type LoadPlan, openLoader } from "../load/Load.ts"
import type { Measurement } from "../programs/Command.ts"
import { startProgram } from "../programs/ProgramProcess.ts"
import { weft } from "../programs/Programs.ts"
import type { Figures } from "../Row.ts"
import type { Contender, Suite } from "../Suite.ts"
import { startPlain, startWeft } from "../targets/Server.ts"

/** A measured process. */
interface Subject {
  /** The process that responds or publishes; its descendants are runners. */
  readonly pid: number
  readonly database: number | null
  /** Works for some seconds; returns the number of calls or jobs. */
  readonly work: () => Promise<number>
  readonly close: () => Promise<void>
}

const threads: Readonly<Record<string, string>> = {
  "weft-journal": "journal thread",
  V8Worker: "V8 helper threads"
}

const toPart = (thread: Thread, { pid }: Subject, database: ReadonlySet<number>): string => {
  if (database.has(thread.pid)) return "database server"
  const isFirst = thread.tid === thread.pid
  const isHost = thread.pid === pid
  // Threads of isolates have no name of their own.
  const others = isHost ? "others" : "isolate threads"
  return `${isHost ? "host" : "runners"}, ${isFirst ? "main thread" : (threads[thread.name] ?? others)}`
}

const parts = [
  "host, main thread",
  "host, journal thread",
  "host, V8 helper threads",
  "host, others",
  "runners, main thread",
  "runners, isolate threads",
  "runners, V8 helper threads",
  "database server"
]

const micros = 1e6

const measure = async (subject: Subject): Promise<Figures> => {
  const database = new Set(subject.database === null ? [] : listTree(subject.database))
  const pids = [...listTree(subject.pid), ...database]
  const [threadsBefore, machineBefore, began] = [listThreads(pids), machineTime(), performance.now()]
  const done = await subject.work()
  const seconds = (performance.now() - began) / 1000
  const machine = since(machineBefore)
  const spent = new Map<string, number>()
  let [user, system] = [0, 0]
  for (const thread of listThreads(pids).values()) {
    const before = threadsBefore.get(thread.tid)
    const ofUser = thread.user - (before?.user ?? 0)
    const ofSystem = thread.system - (before?.system ?? 0)
    const part = toPart(thread, subject, database)
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
    "total, µs": each(user + system),
    "of it system time, µs": each(system),
    "clients and everything else, µs": each(Math.max(0, machine.busy - user - system)),
    "idle CPU, %": (machine.idle / all) * 100,
    "stolen CPU, %": (machine.stolen / all) * 100,
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

/** Returns a server under load of 32 clients, after a warm-up. */
const withLoad = async (url: string, rest: Pick<Subject, "pid" | "close">): Promise<Subject> => {
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
  return withLoad(server.url, server)
}

const weftCalls = async (): Promise<Subject> => {
  const server = await startWeft({ hello: source })
  return withLoad(`${server.url}/webhook/default/production/hello/hello`, server)
}

const [onSqlite, onPostgres] = weft("jobs")

const jobs = async (program: typeof onSqlite, measurement: Measurement): Promise<Subject> => {
  if (program === undefined) throw new Error("The program does not exist")
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
  measures: "CPU time of a webhook and of a job, by thread",
  headlines: ["total, µs"],
  open: async () => ({
    contenders: subjects.map(
      ([name, begin]): Contender => ({
        name,
        // Each contender starts and stops separately, because idle processes would take CPU time.
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
      webhooks: "GET, 32 clients for 4 s, after 4 s of warm-up; the run with its result is durable",
      jobs: "of 1 KB, by 32 publishers in the host's main thread for 4 s, or 20,000 in batches of 1,000; after a warm-up of the same size",
      "V8 helper threads": "collect garbage and compile",
      "clients and everything else": "CPU time of none of the processes above: clients, and kernel threads for the disk"
    },
    close: async () => undefined
  })
}
