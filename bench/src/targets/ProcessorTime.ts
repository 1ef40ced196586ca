/** Processor time of processes and their descendants, as Linux counts it: what a thing costs, whoever else is busy. */
import { readdirSync, readFileSync } from "node:fs"

interface Entry {
  readonly pid: number
  readonly parent: number
  /** Its own and that of its children that have ended, in seconds. */
  readonly seconds: number
}

const entryOf = (pid: number): Entry | null => {
  try {
    const fields = (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? "").split(" ")
    // From the state on: parent is the 2nd; user, system and the same of ended children are the 12th to 15th, in ticks.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { pid, parent: Number(fields[1]), seconds: ticks / 100 }
  } catch {
    // It has just ended.
    return null
  }
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
