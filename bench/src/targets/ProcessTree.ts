/** Processes and their memory, as Linux counts it. */
import { readdirSync, readFileSync } from "node:fs"

const MiB = 1024 ** 2

/** Of this process and of all threads that start processes; without those that ended meanwhile. */
export const childrenOf = (pid: number): ReadonlyArray<number> => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").trim().split(" ").filter(Boolean).map(Number)
    )
  } catch {
    return []
  }
}

/** It, and all that come from it. */
export const treeOf = (pid: number): ReadonlyArray<number> => [pid, ...childrenOf(pid).flatMap(treeOf)]

/** Resident memory in MiB; what several processes share counts once for all of them. */
export const proportionalMiB = (pids: ReadonlyArray<number>): number =>
  pids.reduce((sum, pid) => sum + (Number(/^Pss:\s+(\d+) kB$/m.exec(rollup(pid))?.[1] ?? 0) * 1024) / MiB, 0)

const rollup = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")
  } catch {
    return ""
  }
}
