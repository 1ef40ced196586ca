/** Default number and memory of runners, so that they fit into the memory of the machine or the container. */
import { availableParallelism, totalmem } from "node:os"

export interface RunnerSizing {
  readonly runners: number
  /** Resident memory at which a runner is killed. */
  readonly rssBytes: number
}

export interface Machine {
  readonly processors: number
  /** Memory of the machine, or the lower limit of the container. */
  readonly memoryBytes: number
}

/** Settings of the operator, and the memory of one isolate. */
export interface SizingOptions {
  readonly runners?: number | undefined
  readonly rssBytes?: number | undefined
  readonly isolateBytes: number
}

const MiB = 1024 * 1024
/** Share of the memory that all runners may have together. The rest is for the host, and for one more runner. */
const runnersShare = 0.75
/** Memory of a runner without isolates. */
const emptyRunnerBytes = 96 * MiB
const rssBytesUsual = 1024 * MiB
const rssBytesMax = 4096 * MiB

/**
 * Returns this machine. Reads the limits of control groups, versions 1 and 2: the system would kill processes above them,
 * whatever the memory of the machine.
 */
export const thisMachine = (): Machine => ({
  processors: availableParallelism(),
  memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
})

/**
 * Returns the sizes. Settings of the operator apply unchanged. By default there is a runner per processor, at least 2, and
 * fewer if the memory has no space for an isolate in each.
 */
export const sizeRunners = (
  { runners, rssBytes, isolateBytes }: SizingOptions,
  { processors, memoryBytes }: Machine
): RunnerSizing => {
  const usual = Math.max(2, processors)
  const usableBytes = memoryBytes * runnersShare
  const fitting = Math.max(1, Math.floor(usableBytes / (emptyRunnerBytes + isolateBytes)))
  const count = runners ?? (rssBytes === undefined ? Math.min(usual, fitting) : usual)
  const share = Math.max(memoryBytes / 4 / count, Math.min(rssBytesUsual, usableBytes / count))
  return { runners: count, rssBytes: rssBytes ?? Math.floor(Math.min(share, rssBytesMax)) }
}
