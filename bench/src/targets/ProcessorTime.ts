/** Processor time, as Linux counts it: what a thing costs, whoever else is busy. */
import { readdirSync, readFileSync } from "node:fs"

/** Ticks in a second, on every Linux that Node runs on. */
const tick = 100

/** The fields of a process or a thread from its state on, which is the first; null when it has just ended. */
const fieldsOf = (folder: string): ReadonlyArray<string> | null => {
  try {
    return (readFileSync(`${folder}/stat`, "latin1").split(") ").at(-1) ?? "").split(" ")
  } catch {
    return null
  }
}

interface Entry {
  readonly pid: number
  readonly parent: number
  /** Its own and that of its children that have ended, in seconds. */
  readonly seconds: number
}

const entryOf = (pid: number): Entry | null => {
  const fields = fieldsOf(`/proc/${pid}`)
  if (fields === null) return null
  // User, system and the same of ended children.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return { pid, parent: Number(fields[1]), seconds: ticks / tick }
}

/** Of the process itself, and of all below it, in seconds. */
export interface ProcessorTime {
  readonly own: number
  readonly below: number
}

export const processorTime = (root: number): ProcessorTime => {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (entryOf(Number(name)) ?? []) : []))
  const below = (parent: number): number =>
    all.filter((entry) => entry.parent === parent).reduce((sum, entry) => sum + entry.seconds + below(entry.pid), 0)
  return { own: all.find(({ pid }) => pid === root)?.seconds ?? 0, below: below(root) }
}

export interface Thread {
  readonly pid: number
  /** That of the process for its first thread. */
  readonly tid: number
  readonly name: string
  /** Of its own code, in seconds. */
  readonly user: number
  /** Of the system on its behalf, in seconds. */
  readonly system: number
}

/** All threads of the processes, by their ids, which are unique among all. */
export const threadsOf = (pids: ReadonlyArray<number>): ReadonlyMap<number, Thread> =>
  new Map(pids.flatMap((pid) => threadIdsOf(pid).flatMap((tid) => threadOf(pid, tid))).map((it) => [it.tid, it]))

const threadIdsOf = (pid: number): ReadonlyArray<number> => {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return []
  }
}

const threadOf = (pid: number, tid: number): ReadonlyArray<Thread> => {
  const folder = `/proc/${pid}/task/${tid}`
  const fields = fieldsOf(folder)
  if (fields === null) return []
  const name = readFileSync(`${folder}/comm`, "latin1").trim()
  return [{ pid, tid, name, user: Number(fields[11]) / tick, system: Number(fields[12]) / tick }]
}

/** Of all processors together, in seconds. */
export interface MachineTime {
  readonly busy: number
  readonly idle: number
  /** In which another machine had them. */
  readonly stolen: number
}

export const machineTime = (): MachineTime => {
  const line = readFileSync("/proc/stat", "latin1").split("\n", 1)[0] ?? ""
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, stolen = 0] = line
    .split(/\s+/)
    .slice(1)
    .map((field) => Number(field) / tick)
  return { busy: user + nice + system + irq + softirq, idle: idle + iowait, stolen }
}
