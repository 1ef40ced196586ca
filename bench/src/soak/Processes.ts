/** What a process holds, as Linux counts it. */
import { readdirSync, readFileSync } from "node:fs"

export interface Holdings {
  readonly descriptors: number
  readonly threads: number
}

/** Null when it has ended. */
export const holdingsOf = (pid: number): Holdings | null => {
  try {
    const threads = Number(/^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])
    return { descriptors: readdirSync(`/proc/${pid}/fd`).length, threads }
  } catch {
    return null
  }
}
