/** The reference server, started like `npm start`, with times since the start of its process. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "@weft/tooling/services"
import { end } from "./Server.ts"

const toPath = (path: string): string => new URL(path, import.meta.url).pathname

const main = toPath("../../../examples/standalone/scripts/start.ts")
const compiled = toPath("../../../node_modules/.cache/node")
const retryMs = 2
const timeoutMs = 120_000

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

  /** Starts the server once, because the first start after a change of the sources compiles them. */
  static async compile(): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), "weft-bench-cold-"))
    const server = await ColdServer.begin(dir, "svc_00000000-0000-4000-8000-000000000000_compile")
    await server.answers("/healthz")
    await server.close()
    rmSync(dir, { recursive: true, force: true })
  }

  /** Returns the milliseconds since the start of the process. */
  sinceStart(): number {
    return performance.now() - this.#began
  }

  /** Waits for the first successful response of a path; returns the milliseconds since the start of the process. */
  async answers(path: string): Promise<number> {
    while (this.sinceStart() < timeoutMs) {
      const isAnswered = await firstAnswer(`${this.url}${path}`).then(
        () => true,
        () => false
      )
      if (isAnswered) return this.sinceStart()
      if (this.#child.exitCode !== null) throw new Error(`The server exited with ${this.#child.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
    throw new Error(`The server did not respond to ${path} within ${timeoutMs} ms`)
  }

  close(): Promise<void> {
    return end(this.#child)
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Sends a GET request and returns the milliseconds until the complete response; rejects unless it is 200. */
export const firstAnswer = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    get(url, { agent }, (response) => {
      response.resume()
      response.once("end", () =>
        response.statusCode === 200
          ? resolve(performance.now() - began)
          : reject(new Error(`${url} returned ${response.statusCode}`))
      )
    }).once("error", reject)
  })
