/** The processes that make up one server, with a folder of their own: they end together, and with this process. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isOpen } from "./Port.ts"
import { waitUntil } from "./Waiting.ts"

export interface Daemons {
  readonly dir: string
  /** Runs a command to its end. */
  readonly run: (command: string, args: ReadonlyArray<string>) => void
  /** Begins a process that stays; what it says goes to `log/NAME`. */
  readonly begin: (name: string, command: string, args: ReadonlyArray<string>) => void
  /** Until something listens on the port. */
  readonly listening: (name: string, port: number) => Promise<void>
  /** Until this address answers a GET with 200. */
  readonly answering: (name: string, url: string) => Promise<void>
  /** Ends all processes at once, and removes the folder. */
  readonly remove: () => Promise<void>
}

export const daemons = (name: string, env: Readonly<Record<string, string>> = {}): Daemons => {
  const dir = mkdtempSync(join(tmpdir(), `weft-${name}-`))
  mkdirSync(join(dir, "log"))
  const running = new Map<string, ChildProcess>()
  const environment = { ...process.env, LC_ALL: "C.UTF-8", ...env }
  const logOf = (daemon: string) => readFileSync(join(dir, "log", daemon), "utf8").slice(-2000)

  const kill = () => {
    for (const { pid, exitCode, signalCode } of running.values()) {
      // Workers are in the group of their leader.
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL")
    }
  }
  process.once("exit", kill)
  const until = (daemon: string, isTrue: () => Promise<boolean>) =>
    waitUntil(`${daemon} to begin`, () => {
      const child = running.get(daemon)
      if (child === undefined || child.exitCode !== null) throw new Error(`${daemon} ended:\n${logOf(daemon)}`)
      return isTrue()
    })

  return {
    dir,
    run: (command, args) => {
      const done = spawnSync(command, args, { cwd: dir, encoding: "utf8", env: environment, timeout: 120_000 })
      if (done.status !== 0) throw new Error(`${command} failed: ${done.stderr.slice(-2000) || done.error?.message}`)
    },
    begin: (daemon, command, args) => {
      const log = openSync(join(dir, "log", daemon), "a")
      // The kernel ends it also when this process is killed.
      const child = spawn("setpriv", ["--pdeathsig", "KILL", command, ...args], {
        cwd: dir,
        detached: true,
        env: environment,
        stdio: ["ignore", log, log]
      })
      closeSync(log)
      running.set(daemon, child)
    },
    listening: (daemon, port) => until(daemon, () => isOpen(port)),
    answering: (daemon, url) =>
      until(daemon, () =>
        fetch(url).then(
          async (response) => {
            await response.text()
            return response.status === 200
          },
          () => false
        )
      ),
    remove: async () => {
      const ended = [...running.values()].map((child) =>
        child.exitCode !== null || child.signalCode !== null
          ? undefined
          : new Promise((resolve) => child.once("exit", resolve))
      )
      kill()
      await Promise.all(ended)
      process.off("exit", kill)
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}
