/** Loads URLs from a process of its own. */
import { fork } from "node:child_process"

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

export interface Loader {
  /** One at a time. */
  readonly load: (plan: LoadPlan) => Promise<LoadResult>
  readonly close: () => void
}

/** Its code is compiled once: what is measured second is not measured by a faster client. */
export const openLoader = (): Loader => {
  const child = fork(new URL("./client.ts", import.meta.url), {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  return {
    load: (plan) =>
      new Promise((resolve, reject) => {
        const ended = (code: number | null): void => reject(new Error(`The load's process ended with ${code}`))
        child.once("exit", ended)
        child.once("message", (text) => {
          child.off("exit", ended)
          resolve(JSON.parse(String(text)))
        })
        child.send(JSON.stringify(plan))
      }),
    close: () => void child.kill()
  }
}

/** From a process that is there for this plan only. */
export const load = async (plan: LoadPlan): Promise<LoadResult> => {
  const loader = openLoader()
  try {
    return await loader.load(plan)
  } finally {
    loader.close()
  }
}
