/** Process trees and their memory, from Linux's `/proc`. */
import { readdirSync, readFileSync } from "node:fs"

const MiB = 1024 ** 2

/** Returns the child processes of all threads of a process, or none if it has exited. */
export const listChildren = (pid: number): ReadonlyArray<number> => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").trim().split(" ").filter(Boolean).map(Number)
    )
  } catch {
    return []
  }
}

/** Returns a process and all its descendants. */
export const listTree = (pid: number): ReadonlyArray<number> => [pid, ...listChildren(pid).flatMap(listTree)]

/** Returns the proportional memory (PSS) in MiB, which counts shared pages once. */
export const proportionalMiB = (pids: ReadonlyArray<number>): number =>
  pids.reduce((sum, pid) => sum + (Number(/^Pss:\s+(\d+) kB$/m.exec(rollup(pid))?.[1] ?? 0) * 1024) / MiB, 0)

const rollup = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")
  } catch {
    return ""
  }
}
