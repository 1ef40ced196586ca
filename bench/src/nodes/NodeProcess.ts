/** One node: the reference server as a process group of its own. */
import { type ChildProcess, spawn } from "node:child_process"
import { createWriteStream } from "node:fs"
import { createInterface } from "node:readline"
import { referenceServer } from "@weft/tooling/programs"

export interface NodeProcess {
  readonly url: string
  readonly pid: number
  /** SIGTERM; the exit code. */
  readonly stop: () => Promise<number | null>
  /** To the whole group: the server and its runners. */
  readonly signal: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT") => void
  readonly exited: Promise<number | null>
}

export interface NodeSettings {
  readonly variables: Readonly<Record<string, string>>
  /** Where all that it says is written. */
  readonly log: string
}

/** As `npm start` has them. */
const flags = ["--max-semi-space-size=16", "--initial-old-space-size=40"]

/** Starts one; rejects when it ends before it listens, or takes longer than `patienceMs`. */
export const startNode = async ({ variables, log }: NodeSettings, patienceMs = 120_000): Promise<NodeProcess> => {
  const child = spawn(process.execPath, [...flags, await referenceServer()], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, WEFT_PORT: "0", ...variables }
  })
  const said = createWriteStream(log, { flags: "a" })
  child.stdout.pipe(said, { end: false })
  child.stderr.pipe(said, { end: false })
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const signal = (name: NodeJS.Signals): void => {
    // Its id is nobody else's as long as this process has not heard of its end.
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    process.kill(-child.pid, name)
  }
  const end = (): void => signal("SIGKILL")
  process.once("exit", end)
  void exited.then(() => {
    process.off("exit", end)
    said.end()
  })
  try {
    const url = await listening(child, patienceMs)
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

const prefix = "weft listening on "

const listening = (child: ChildProcess, patienceMs: number): Promise<string> =>
  new Promise((resolve, reject) => {
    if (child.stdout === null) return reject(new Error("The node has no output"))
    const timer = setTimeout(() => reject(new Error(`The node did not listen within ${patienceMs} ms`)), patienceMs)
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith(prefix)) return
      clearTimeout(timer)
      resolve(line.slice(prefix.length))
    })
    child.once("exit", (code) => {
      clearTimeout(timer)
      reject(new Error(`The node ended with ${code} before it listened`))
    })
  })
