/** Samples the memory of the server and its runners, and the delay of its event loop. */
import { listTree, proportionalMiB, residentMiB } from "@weft/bench/instruments"
import type { NodeProcess } from "../nodes/NodeProcess.ts"

/** Memory in MiB. */
export interface MemoryFigures {
  readonly server: number
  readonly runners: number
}

export interface ServerFigures {
  readonly before: MemoryFigures
  readonly most: MemoryFigures
  readonly after: MemoryFigures
  /** Maximum delay of the event loop, in milliseconds. */
  readonly loopDelayMs: number
}

export interface ServerWatch {
  /** Takes the last sample. */
  readonly stop: () => Promise<ServerFigures>
}

const sampleEveryMs = 250
const scrapeEveryMs = 1_000
const scrapeTimeoutMs = 15_000

/** Starts with a sample, which is the memory before. */
export const watchServer = async (node: NodeProcess): Promise<ServerWatch> => {
  const before = readMemory(node)
  // Resets the maximum.
  await readLoopDelay(node)
  let most = before
  let loopDelayMs = 0
  const sample = (): void => {
    const now = readMemory(node)
    most = { server: Math.max(most.server, now.server), runners: Math.max(most.runners, now.runners) }
  }
  let scraping: Promise<void> | null = null
  const scrape = async (): Promise<void> => {
    loopDelayMs = Math.max(loopDelayMs, await readLoopDelay(node))
    scraping = null
  }
  const timers = [
    setInterval(sample, sampleEveryMs),
    setInterval(() => {
      scraping ??= scrape()
    }, scrapeEveryMs)
  ]
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      await scraping
      await scrape()
      return { before, most, after: readMemory(node), loopDelayMs }
    }
  }
}

const readMemory = ({ pid }: NodeProcess): MemoryFigures => {
  try {
    const [, ...runners] = listTree(pid)
    return { server: residentMiB(pid), runners: proportionalMiB(runners) }
  } catch {
    // The server has exited, which the verdict reports.
    return { server: 0, runners: 0 }
  }
}

/** Returns the maximum delay since the last reading, in milliseconds; 0 if the server does not answer. */
const readLoopDelay = async ({ url }: NodeProcess): Promise<number> => {
  try {
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(scrapeTimeoutMs) })
    const text = await response.text()
    return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1] ?? 0) * 1000
  } catch {
    return 0
  }
}
