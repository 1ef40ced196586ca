/** Starts a private NATS server on a free loopback port, from the Debian package or `WEFT_TEST_NATS_BIN`. */
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { installed } from "./Debian.ts"
import { freePort, isOpen } from "./Port.ts"
import { waitUntil } from "./Waiting.ts"

export interface NatsServer {
  /** `nats://127.0.0.1:PORT` */
  readonly url: string
  readonly user: string
  readonly password: string
  /** Kills the server like a crash. `start` restarts it. */
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

const natsPackages = ["nats-server"]

/** Starts a server that requires a password. */
export const nats = async (): Promise<NatsServer> => {
  const { WEFT_TEST_NATS_BIN } = process.env
  if (WEFT_TEST_NATS_BIN === undefined) installed("NATS", ["nats-server"], natsPackages)
  const port = await freePort()
  const [user, password] = ["weft", randomBytes(12).toString("hex")]
  let server: ChildProcess | undefined
  const end = (): void => void server?.kill("SIGKILL")

  const start = async (): Promise<void> => {
    process.once("exit", end)
    const args = ["-a", "127.0.0.1", "-p", String(port), "--user", user, "--pass", password]
    const running = spawn(WEFT_TEST_NATS_BIN ?? "nats-server", args, { stdio: ["ignore", "ignore", "pipe"] })
    server = running
    let stderr = ""
    running.stderr?.on("data", (bytes: Buffer) => {
      stderr = (stderr + bytes.toString()).slice(-64 * 1024)
    })
    running.once("error", (error) => {
      stderr += error.message
    })
    await waitUntil("NATS to start", () => {
      if (running.exitCode !== null || running.pid === undefined) throw new Error(`NATS exited:\n${stderr}`)
      return isOpen(port)
    })
  }
  const stop = async (): Promise<void> => {
    process.off("exit", end)
    const running = server
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const ended = new Promise((resolve) => running.once("exit", resolve))
    running.kill("SIGKILL")
    await ended
  }
  await start()
  return { url: `nats://127.0.0.1:${port}`, user, password, start, stop }
}
