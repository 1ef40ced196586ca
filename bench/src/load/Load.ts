/** Loads a URL from a process of its own. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"

export interface LoadPlan {
  /** Asked in turns by each client, all of one server; that each begins with another one is all that sets clients apart. */
  readonly urls: readonly [string, ...ReadonlyArray<string>]
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Connections, each with one request in flight. */
  readonly clients: number
  readonly warmupSeconds: number
  readonly seconds: number
}

export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers that were not 2xx, and broken connections. */
  readonly failures: number
}

const client = new URL("./client.ts", import.meta.url).pathname

export const load = async (plan: LoadPlan): Promise<LoadResult> => {
  const { stdout } = await promisify(execFile)(process.execPath, [client, JSON.stringify(plan)])
  return JSON.parse(stdout)
}
