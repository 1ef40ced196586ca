/** The reference server as a child process with its own data dir. */
import { spawn } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { referenceServer } from "@weft/tooling/programs"

export interface RunningServer {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string
  /** API key of the default environment with all permissions. */
  readonly token: string
  /** Sends SIGTERM, deletes the data dir and returns the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Returns the path of the server program: that of this repository, or `WEFT_TEST_SERVER`. */
const program = async (): Promise<string> => process.env.WEFT_TEST_SERVER ?? (await referenceServer())

/** Starts the server and resolves when it accepts requests. Rejects with its output if it ends before. */
export const startServer = async (): Promise<RunningServer> => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-e2e-"))
  const token = `svc_${randomUUID()}_${randomBytes(32).toString("base64url")}`
  const server = spawn(process.execPath, [await program()], {
    cwd: dataDir,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      WEFT_PORT: "0",
      WEFT_DATA_DIR: dataDir,
      WEFT_API_KEY: token,
      // The slice is measured in wall-clock time, and these tests must not depend on the load of the machine.
      WEFT_SANDBOX_CPU_SLICE_MS: "30000"
    }
  })
  const ended = once(server, "exit")
  const output: Array<string> = []
  server.stderr.on("data", (chunk) => output.push(String(chunk)))

  const url = await new Promise<string>((resolve, reject) => {
    createInterface(server.stdout).on("line", (line) => {
      output.push(`${line}\n`)
      const listening = /^weft listening on (http:\/\/\S+?)\/?$/.exec(line)
      if (listening?.[1] !== undefined) resolve(listening[1])
    })
    ended
      .then(() => rm(dataDir, { recursive: true, force: true }))
      .then(() => reject(new Error(`The server ended before it listened:\n${output.join("")}`)), reject)
  })

  const stop = async () => {
    server.kill("SIGTERM")
    await ended
    await rm(dataDir, { recursive: true, force: true })
    return server.exitCode
  }
  return { url, token, stop }
}
