/** Memory of the nodes' own processes, without their runners, over time. */
import { residentMiB } from "../targets/Memory.ts"
import type { Cluster } from "./Cluster.ts"

export interface MemoryFigures {
  /** Of any node at any time, in MiB. */
  readonly mostMiB: number
  /** Medians of all nodes in the first and in the last quarter of the time, in MiB. */
  readonly earlyMiB: number
  readonly lateMiB: number
}

export interface MemoryWatch {
  readonly stop: () => MemoryFigures
}

const everyMs = 2_000

/** Nodes need a while after their start to be as large as they will be. */
const youngMs = 30_000

export const watchMemory = ({ slots }: Cluster): MemoryWatch => {
  const samples: Array<{ readonly mib: number; readonly isGrown: boolean }> = []
  const born = new Map<number, number>()
  const timer = setInterval(() => {
    for (const { node } of slots) {
      if (node === null) continue
      const since = born.get(node.pid) ?? performance.now()
      born.set(node.pid, since)
      try {
        samples.push({ mib: residentMiB(node.pid), isGrown: performance.now() - since > youngMs })
      } catch {
        // It has just ended.
      }
    }
  }, everyMs)
  return {
    stop: () => {
      clearInterval(timer)
      const grown = samples.filter(({ isGrown }) => isGrown).map(({ mib }) => mib)
      const quarter = Math.ceil(grown.length / 4)
      return {
        mostMiB: Math.max(0, ...samples.map(({ mib }) => mib).filter((mib) => !Number.isNaN(mib))),
        earlyMiB: median(grown.slice(0, quarter)),
        lateMiB: median(grown.slice(-quarter))
      }
    }
  }
}

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
