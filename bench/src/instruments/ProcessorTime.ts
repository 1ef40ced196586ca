/** CPU time, from Linux's `/proc`: a cost that does not depend on other load. */
import { readdirSync, readFileSync } from "node:fs"

/** Clock ticks per second, on every Linux that Node supports. */
const tick = 100

/** Reads the `stat` fields of a process or thread, from its state on; null if it has exited. */
const readFields = (folder: string): ReadonlyArray<string> | null => {
  try {
    return (readFileSync(`${folder}/stat`, "latin1").split(") ").at(-1) ?? "").split(" ")
  } catch {
    return null
  }
}

interface Entry {
  readonly pid: number
  readonly parent: number
  /** CPU time of the process and its ended children, in seconds. */
  readonly seconds: number
}

const readEntry = (pid: number): Entry | null => {
  const fields = readFields(`/proc/${pid}`)
  if (fields === null) return null
  // User, system and the same of ended children.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return { pid, parent: Number(fields[1]), seconds: ticks / tick }
}

/** CPU time of a process, and of all its descendants, in seconds. */
export interface ProcessorTime {
  readonly own: number
  readonly below: number
}

export const processorTime = (root: number): ProcessorTime => {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readEntry(Number(name)) ?? []) : []))
  const below = (parent: number): number =>
    all.filter((entry) => entry.parent === parent).reduce((sum, entry) => sum + entry.seconds + below(entry.pid), 0)
  return { own: all.find(({ pid }) => pid === root)?.seconds ?? 0, below: below(root) }
}

export interface Thread {
  readonly pid: number
  /** Thread id; equals the pid for the main thread. */
  readonly tid: number
  readonly name: string
  /** User time, in seconds. */
  readonly user: number
  /** System time, in seconds. */
  readonly system: number
}

/** Returns all threads of the processes by their ids. */
export const listThreads = (pids: ReadonlyArray<number>): ReadonlyMap<number, Thread> =>
  new Map(pids.flatMap((pid) => listThreadIds(pid).flatMap((tid) => readThread(pid, tid))).map((it) => [it.tid, it]))

const listThreadIds = (pid: number): ReadonlyArray<number> => {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return []
  }
}

const readThread = (pid: number, tid: number): ReadonlyArray<Thread> => {
  const folder = `/proc/${pid}/task/${tid}`
  const fields = readFields(folder)
  if (fields === null) return []
  const name = readFileSync(`${folder}/comm`, "latin1").trim()
  return [{ pid, tid, name, user: Number(fields[11]) / tick, system: Number(fields[12]) / tick }]
}

/** CPU time of the whole machine, in seconds. */
export interface MachineTime {
  readonly busy: number
  readonly idle: number
  /** Time that the hypervisor gave to other machines. */
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
