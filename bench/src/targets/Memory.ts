/** Memory of another process, as Linux counts it. */
import { readFileSync, writeFileSync } from "node:fs"

const MiB = 1024 ** 2

const field = (pid: number, name: string): number => {
  const kilobytes = new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return (Number(kilobytes) * 1024) / MiB
}

/** Resident now, in MiB. */
export const residentMiB = (pid: number): number => field(pid, "VmRSS")

/** The most that was resident since the last `forgetPeak`, in MiB. */
export const peakMiB = (pid: number): number => field(pid, "VmHWM")

export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5")
