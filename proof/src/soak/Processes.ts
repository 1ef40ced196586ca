/** Resources of a process, as Linux counts them. */
import { readdirSync, readFileSync } from "node:fs"

export interface Resources {
  readonly descriptors: number
  readonly threads: number
}

/** Returns the resources of a process, or null if it has exited. */
export const readResources = (pid: number): Resources | null => {
  try {
    const threads = Number(/^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])
    return { descriptors: readdirSync(`/proc/${pid}/fd`).length, threads }
  } catch {
    return null
  }
}
