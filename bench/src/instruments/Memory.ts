/** Memory of another process, from Linux's `/proc`. */
import { readFileSync, writeFileSync } from "node:fs"

const MiB = 1024 ** 2

const field = (pid: number, name: string): number => {
  const kilobytes = new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return (Number(kilobytes) * 1024) / MiB
}

/** Returns the resident memory, in MiB. */
export const residentMiB = (pid: number): number => field(pid, "VmRSS")

/** Returns the peak resident memory since the last `resetPeak`, in MiB. */
export const peakMiB = (pid: number): number => field(pid, "VmHWM")

export const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5")
