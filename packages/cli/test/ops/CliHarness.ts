/** A server for all tests of a file, and the command line as child processes. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient, type WeftClient } from "@weft/client"
import { start, type WeftInstance } from "@weft/core"
import { MemoryStores, trustedSandbox, trustedZip } from "@weft/core/testing"
import * as Http from "@weft/http"
import { commandLine } from "@weft/tooling/programs"
import { Redacted } from "effect"
import { modules } from "./functions.ts"

const adminToken = "admin-token-of-the-tests"

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const program = await commandLine()

export interface RunningCommand {
  /** Resolves when stdout or stderr contains the text. */
  readonly waitFor: (text: string) => Promise<void>
  readonly ended: Promise<CommandResult>
  readonly stop: () => Promise<CommandResult>
}

export interface CommandOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** Working folder; `folder` of the harness by default. */
  readonly cwd?: string
}

export class CliHarness {
  readonly weft: WeftInstance
  readonly listening: Http.Listening
  readonly envId: string
  readonly token: string
  /** Home and default working folder of the commands. */
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

  /** Starts the server with the deployed project `shop`. */
  static async start(): Promise<CliHarness> {
    const weft = await start({
      database: MemoryStores.database,
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
    const harness = new CliHarness(weft, listening, env.env_id, Redacted.value(token), folder)
    await harness.client.projects.create({ name: "shop" })
    const { build_id } = await harness.client.builds.upload("shop", trustedZip("shop"))
    await harness.client.builds.deploy("shop", build_id)
    return harness
  }

  begin(args: ReadonlyArray<string>, { stdin, env = {}, cwd = this.folder }: CommandOptions = {}): RunningCommand {
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
    let output = { stdout: "", stderr: "" }
    const listeners = new Set<() => void>()
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        output = { ...output, [name]: output[name] + text }
        for (const listener of listeners) listener()
      })
    }
    child.stdin.end(stdin ?? "")
    const ended = new Promise<CommandResult>((resolve) => child.on("close", (code) => resolve({ code, ...output })))
    return {
      ended,
      stop: () => {
        child.kill("SIGINT")
        return ended
      },
      waitFor: (text) =>
        new Promise((resolve, reject) => {
          const check = () => {
            if (!`${output.stdout}${output.stderr}`.includes(text)) return
            listeners.delete(check)
            resolve()
          }
          listeners.add(check)
          void ended.then(() =>
            reject(new Error(`The command ended without printing ${text}: ${output.stdout}${output.stderr}`))
          )
          check()
        })
    }
  }

  run(args: ReadonlyArray<string>, options: CommandOptions = {}): Promise<CommandResult> {
    return this.begin(args, options).ended
  }

  /** Runs a command with `--json` and parses its output. */
  async json(args: ReadonlyArray<string>, options: CommandOptions = {}) {
    const { code, stdout, stderr } = await this.run([...args, "--json"], options)
    if (code !== 0) throw new Error(`weft ${args.join(" ")} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }

  async close(): Promise<void> {
    await this.listening.close({ graceMs: 1_000 })
    await this.weft.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
