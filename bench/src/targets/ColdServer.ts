/** The reference server as `npm start` starts it, on a clock that begins with its process. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "@weft/tooling/services"
import { end } from "./Server.ts"

const fileOf = (path: string): string => new URL(path, import.meta.url).pathname

const main = fileOf("../../../examples/standalone/scripts/start.ts")
const compiled = fileOf("../../../node_modules/.cache/node")
const retryMs = 2
const patienceMs = 120_000

export class ColdServer {
  readonly url: string
  readonly pid: number
  readonly #child: ChildProcess
  readonly #began: number

  private constructor(port: number, child: ChildProcess, began: number) {
    this.url = `http://127.0.0.1:${port}`
    this.pid = child.pid ?? 0
    this.#child = child
    this.#began = began
  }

  static async begin(dir: string, key: string): Promise<ColdServer> {
    const port = await freePort()
    const began = performance.now()
    const child = spawn(process.execPath, ["--max-semi-space-size=16", "--initial-old-space-size=40", main], {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: compiled,
        WEFT_PORT: String(port),
        WEFT_DATA_DIR: dir,
        WEFT_API_KEY: key
      },
      stdio: ["ignore", "ignore", "inherit"]
    })
    return new ColdServer(port, child, began)
  }

  /** Once, so that what is measured is not the first start after a change of its sources. */
  static async compile(): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), "weft-bench-cold-"))
    const server = await ColdServer.begin(dir, "svc_00000000-0000-4000-8000-000000000000_compile")
    await server.answers("/healthz")
    await server.close()
    rmSync(dir, { recursive: true, force: true })
  }

  /** Milliseconds since its process was started. */
  sinceStart(): number {
    return performance.now() - this.#began
  }

  /** When the path was first answered, in milliseconds since the process was started. */
  async answers(path: string): Promise<number> {
    while (this.sinceStart() < patienceMs) {
      const isAnswered = await firstAnswer(`${this.url}${path}`).then(
        () => true,
        () => false
      )
      if (isAnswered) return this.sinceStart()
      if (this.#child.exitCode !== null) throw new Error(`The server ended with ${this.#child.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
    throw new Error(`The server did not answer within ${patienceMs} ms`)
  }

  close(): Promise<void> {
    return end(this.#child)
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** How long a GET takes until its answer is whole, in milliseconds; fails unless that is 200. */
export const firstAnswer = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    get(url, { agent }, (response) => {
      response.resume()
      response.once("end", () =>
        response.statusCode === 200
          ? resolve(performance.now() - began)
          : reject(new Error(`${url} answered ${response.statusCode}`))
      )
    }).once("error", reject)
  })
