/** Sends load to URLs from a separate process. */
import { fork } from "node:child_process"

export interface LoadPlan {
  /** URLs of one server that each client requests in turn; each client starts at another one. */
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
  /** Responses other than 2xx, and broken connections. */
  readonly failures: number
}

export interface Loader {
  /** Executes one plan at a time. */
  readonly load: (plan: LoadPlan) => Promise<LoadResult>
  readonly close: () => void
}

/** Starts a load process that several measurements share, so that all use equally compiled code. */
export const openLoader = (): Loader => {
  const child = fork(new URL("./client.ts", import.meta.url), {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  return {
    load: (plan) =>
      new Promise((resolve, reject) => {
        const exited = (code: number | null): void => reject(new Error(`The load process exited with ${code}`))
        child.once("exit", exited)
        child.once("message", (text) => {
          child.off("exit", exited)
          resolve(JSON.parse(String(text)))
        })
        child.send(JSON.stringify(plan))
      }),
    close: () => void child.kill()
  }
}

/** Executes a plan in a new process. */
export const load = async (plan: LoadPlan): Promise<LoadResult> => {
  const loader = openLoader()
  try {
    return await loader.load(plan)
  } finally {
    loader.close()
  }
}
