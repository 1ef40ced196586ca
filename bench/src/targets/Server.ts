/** Server processes under measurement. */
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { referenceServer } from "@weft/tooling/programs"
import { upload } from "../instruments/upload.ts"

export interface Server {
  /** `http://host:port` */
  readonly url: string
  readonly close: () => Promise<void>
}

const toPath = (path: string): string => new URL(path, import.meta.url).pathname

/** The kernel sends SIGTERM to the child when this process is killed. `setpriv` executes Node, so the pid stays. */
const withParent = ["--pdeathsig", "TERM", process.execPath]

/** A bare `node:http` server. */
export const startPlain = async (): Promise<Server & Pick<WeftServer, "pid">> => {
  const child = spawn("setpriv", [...withParent, toPath("./plain.ts")], { stdio: ["ignore", "pipe", "inherit"] })
  const port = await firstLine(child, /^\d+$/)
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, close: () => end(child) }
}

export interface WeftServer extends Server {
  readonly pid: number
  /** Token of an API key with all permissions. */
  readonly key: string
  /** Deploys the project's build again, like an author after a fix. */
  readonly redeploy: (project: string) => Promise<void>
}

/** Starts the reference server with one deployed project per source, and further settings. */
export const startWeft = async (
  sources: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string>> = {}
): Promise<WeftServer> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-bench-"))
  const key = `svc_${randomUUID()}_${randomUUID().replaceAll("-", "")}`
  const child = spawn("setpriv", [...withParent, "--max-semi-space-size=16", await referenceServer()], {
    env: { PATH: process.env.PATH, WEFT_PORT: "0", WEFT_DATA_DIR: dir, WEFT_API_KEY: key, ...settings },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const line = await firstLine(child, /^weft listening on /).catch((error: unknown) => {
    rmSync(dir, { recursive: true, force: true })
    throw error
  })
  const url = line.slice(line.indexOf("http"))
  const deployments = new Map<string, () => Promise<void>>()
  for (const [project, source] of Object.entries(sources)) {
    deployments.set(project, await upload(url, key, project, source))
  }
  return {
    url,
    pid: child.pid ?? 0,
    key,
    redeploy: async (project) => deployments.get(project)?.(),
    close: async () => {
      await end(child)
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

export const firstLine = (child: ChildProcess, pattern: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    if (child.stdout === null) return reject(new Error("The server has no output"))
    createInterface({ input: child.stdout }).on("line", (line) => pattern.test(line) && resolve(line))
    child.once("exit", (code) => reject(new Error(`The server exited with ${code} before it listened`)))
  })

export const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once("exit", () => resolve())
    child.kill("SIGTERM")
  })
