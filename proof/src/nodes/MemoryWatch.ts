/** Samples the memory of the nodes' processes, without their runners. */
import { residentMiB } from "@weft/bench/instruments"
import type { Cluster } from "./Cluster.ts"

export interface MemoryFigures {
  /** Maximum of all nodes, in MiB. */
  readonly maxMiB: number
  /** Medians of all nodes in the first and in the last quarter of the time, in MiB. */
  readonly earlyMiB: number
  readonly lateMiB: number
}

export interface MemoryWatch {
  readonly stop: () => MemoryFigures
}

const everyMs = 2_000

/** Time after a start in which the memory of a node still grows, in milliseconds. */
const warmupMs = 30_000

export const watchMemory = ({ slots }: Cluster): MemoryWatch => {
  const samples: Array<{ readonly mib: number; readonly isWarm: boolean }> = []
  const startedAt = new Map<number, number>()
  const timer = setInterval(() => {
    for (const { node } of slots) {
      if (node === null) continue
      const since = startedAt.get(node.pid) ?? performance.now()
      startedAt.set(node.pid, since)
      try {
        samples.push({ mib: residentMiB(node.pid), isWarm: performance.now() - since > warmupMs })
      } catch {
        // The process has just exited.
      }
    }
  }, everyMs)
  return {
    stop: () => {
      clearInterval(timer)
      const warm = samples.filter(({ isWarm }) => isWarm).map(({ mib }) => mib)
      const quarter = Math.ceil(warm.length / 4)
      return {
        maxMiB: Math.max(0, ...samples.map(({ mib }) => mib).filter((mib) => !Number.isNaN(mib))),
        earlyMiB: median(warm.slice(0, quarter)),
        lateMiB: median(warm.slice(-quarter))
      }
    }
  }
}

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
