/** One node: the reference server in its own process group. */
import { spawn } from "node:child_process"
import { createWriteStream } from "node:fs"
import { listening, referenceServer } from "@weft/tooling/programs"

export interface NodeProcess {
  readonly url: string
  readonly pid: number
  /** Sends SIGTERM; resolves to the exit code. */
  readonly stop: () => Promise<number | null>
  /** Sends a signal to the process group: the server and its runners. */
  readonly signal: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT") => void
  readonly exited: Promise<number | null>
}

export interface NodeSettings {
  readonly variables: Readonly<Record<string, string>>
  /** File of the output. */
  readonly log: string
}

/** The flags of `npm start`. */
const flags = ["--max-semi-space-size=16", "--initial-old-space-size=40"]

/** Starts a node; rejects if it exits before it listens, or does not listen within `timeoutMs`. */
export const startNode = async ({ variables, log }: NodeSettings, timeoutMs = 120_000): Promise<NodeProcess> => {
  const child = spawn(process.execPath, [...flags, await referenceServer()], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, WEFT_PORT: "0", ...variables }
  })
  const output = createWriteStream(log, { flags: "a" })
  child.stdout.pipe(output, { end: false })
  child.stderr.pipe(output, { end: false })
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const signal = (name: NodeJS.Signals): void => {
    // The pid cannot be reused before this process has received the exit.
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    process.kill(-child.pid, name)
  }
  const end = (): void => signal("SIGKILL")
  process.once("exit", end)
  void exited.then(() => {
    process.off("exit", end)
    output.end()
  })
  try {
    const url = await listening(child, timeoutMs)
    return {
      url,
      pid: child.pid ?? 0,
      signal,
      exited,
      stop: () => {
        child.kill("SIGTERM")
        return exited
      }
    }
  } catch (error) {
    end()
    throw error
  }
}
