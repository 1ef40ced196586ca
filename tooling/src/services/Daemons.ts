/** The processes of one server, with a temporary folder. They stop together, at the latest when this process exits. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isOpen } from "./Port.ts"
import { waitUntil } from "./Waiting.ts"

export interface Daemons {
  readonly dir: string
  /** Runs a command and waits until it exits. Fails if its exit code is not 0. */
  readonly run: (command: string, args: ReadonlyArray<string>) => void
  /** Starts a background process with its output in `log/NAME`. */
  readonly begin: (name: string, command: string, args: ReadonlyArray<string>) => void
  /** Waits until a server listens on the port. */
  readonly listening: (name: string, port: number) => Promise<void>
  /** Waits until a GET of the URL returns 200. */
  readonly answering: (name: string, url: string) => Promise<void>
  /** Kills all processes and removes the folder. */
  readonly remove: () => Promise<void>
}

export const daemons = (name: string, env: Readonly<Record<string, string>> = {}): Daemons => {
  const dir = mkdtempSync(join(tmpdir(), `weft-${name}-`))
  mkdirSync(join(dir, "log"))
  const running = new Map<string, ChildProcess>()
  const environment = { ...process.env, LC_ALL: "C.UTF-8", ...env }
  const readLog = (daemon: string) => readFileSync(join(dir, "log", daemon), "utf8").slice(-2000)

  const kill = () => {
    for (const { pid, exitCode, signalCode } of running.values()) {
      // Kills the process group, which contains the workers of the daemon.
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL")
    }
  }
  process.once("exit", kill)
  const until = (daemon: string, isTrue: () => Promise<boolean>) =>
    waitUntil(`${daemon} to start`, () => {
      const child = running.get(daemon)
      if (child === undefined || child.exitCode !== null) throw new Error(`${daemon} exited:\n${readLog(daemon)}`)
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
      // The kernel also kills the daemon when this process is killed.
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
