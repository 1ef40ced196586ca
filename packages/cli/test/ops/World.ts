/** A server for all tests of a file, and the command line as a process of its own. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient, type WeftClient } from "@weft/client"
import { MemoryStores, start, trustedSandbox, trustedZip, type WeftInstance } from "@weft/core"
import * as Http from "@weft/http"
import { commandLine } from "@weft/tooling/programs"
import { Redacted } from "effect"
import { modules } from "./functions.ts"

export const adminToken = "admin-token-of-the-tests"

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const program = await commandLine()

export interface Started {
  /** Resolves when stdout or stderr has it. */
  readonly says: (text: string) => Promise<void>
  readonly ended: Promise<Ended>
  readonly stop: () => Promise<Ended>
}

export interface Asked {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** The home and the working folder by default. */
  readonly cwd?: string
}

export class World {
  readonly weft: WeftInstance
  readonly listening: Http.Listening
  readonly envId: string
  readonly token: string
  /** The home of the commands, and where they run. */
  readonly folder: string
  readonly client: WeftClient

  private constructor(weft: WeftInstance, listening: Http.Listening, envId: string, token: string, folder: string) {
    this.weft = weft
    this.listening = listening
    this.envId = envId
    this.token = token
    this.folder = folder
    this.client = createClient({ baseUrl: listening.url, token, adminToken })
  }

  /** With the project `shop` deployed. */
  static async start(): Promise<World> {
    const weft = await start({
      stores: MemoryStores.database,
      blobs: MemoryStores.blobs,
      sandbox: trustedSandbox(modules),
      masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
      publicUrl: () => "https://weft.example.net"
    })
    const org = await weft.orgs.create({ slug: "acme" })
    const env = await weft.envs.create(org.slug, { name: "prod" })
    const { token } = await weft.apiKeys.create(env.env_id, {})
    const listening = await Http.listen(weft, { port: 0, adminToken: Redacted.make(adminToken), version: "1.2.3" })
    const folder = mkdtempSync(join(tmpdir(), "weft-cli-"))
    const world = new World(weft, listening, env.env_id, Redacted.value(token), folder)
    await world.client.projects.create({ name: "shop" })
    const { build_id } = await world.client.builds.upload("shop", trustedZip("shop"))
    await world.client.builds.deploy("shop", build_id)
    return world
  }

  begin(args: ReadonlyArray<string>, { stdin, env = {}, cwd = this.folder }: Asked = {}): Started {
    const child = spawn(process.execPath, [program, ...args], {
      cwd,
      env: {
        PATH: process.env.PATH,
        HOME: this.folder,
        XDG_CONFIG_HOME: join(this.folder, "config"),
        XDG_STATE_HOME: join(this.folder, "state"),
        TZ: "UTC",
        WEFT_URL: this.listening.url,
        WEFT_API_KEY: this.token,
        WEFT_ADMIN_TOKEN: adminToken,
        ...env
      }
    })
    let said = { stdout: "", stderr: "" }
    const listeners = new Set<() => void>()
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        said = { ...said, [name]: said[name] + text }
        for (const listener of listeners) listener()
      })
    }
    child.stdin.end(stdin ?? "")
    const ended = new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, ...said })))
    return {
      ended,
      stop: () => {
        child.kill("SIGINT")
        return ended
      },
      says: (text) =>
        new Promise((resolve, reject) => {
          const look = () => {
            if (!`${said.stdout}${said.stderr}`.includes(text)) return
            listeners.delete(look)
            resolve()
          }
          listeners.add(look)
          void ended.then(() => reject(new Error(`It ended without ${text}: ${said.stdout}${said.stderr}`)))
          look()
        })
    }
  }

  run(args: ReadonlyArray<string>, asked: Asked = {}): Promise<Ended> {
    return this.begin(args, asked).ended
  }

  /** What `--json` prints. */
  async json(args: ReadonlyArray<string>, asked: Asked = {}) {
    const { code, stdout, stderr } = await this.run([...args, "--json"], asked)
    if (code !== 0) throw new Error(`weft ${args.join(" ")} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }

  async close(): Promise<void> {
    await this.listening.close({ graceMs: 1_000 })
    await this.weft.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
