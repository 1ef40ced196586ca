/** A program in a child process that measures itself on request. */
import { type ChildProcess, fork } from "node:child_process"
import { type Answer, type Command, encodeOptions, type Figures, type Measurement } from "./Command.ts"
import type { ProgramOptions } from "./JobProgram.ts"

export interface ProgramProcess {
  readonly pid: number
  readonly settings: Readonly<Record<string, string>>
  /** Rejects when the program fails or ends. */
  readonly measure: (measurement: Measurement) => Promise<Figures>
  readonly close: () => Promise<void>
}

export interface ProgramFile extends ProgramOptions {
  /** Main module of the program. */
  readonly file: URL
}

const node = ["--conditions=weft-source", "--max-semi-space-size=16", "--disable-warning=DeprecationWarning"]

/** Grace period of a shutdown, in milliseconds; then the program is killed. */
const shutdownGraceMs = 10_000

const running = new Set<ChildProcess>()
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

export const startProgram = async ({ file, ...options }: ProgramFile): Promise<ProgramProcess> => {
  const child = fork(file, [encodeOptions(options)], {
    execArgv: node,
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  running.add(child)
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  // The process may have exited; the `exit` event reports that.
  child.on("error", () => undefined)
  void exited.then(() => running.delete(child))

  let pending: ((answer: Answer) => void) | undefined
  const receive = (answer: Answer): void => {
    pending?.(answer)
    pending = undefined
  }
  child.on("message", (text) => receive(JSON.parse(String(text))))
  child.once("exit", (code, signal) => receive({ kind: "failed", reason: `The program exited with ${signal ?? code}` }))
  const next = (): Promise<Answer> => {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.reject(new Error("The program has exited"))
    return new Promise((resolve, reject) => {
      pending = (answer) => (answer.kind === "failed" ? reject(new Error(answer.reason)) : resolve(answer))
    })
  }
  const first = await next()
  const request = async (command: Command): Promise<Figures> => {
    const answered = next()
    child.send(JSON.stringify(command))
    const answer = await answered
    return answer.kind === "measured" ? answer.figures : {}
  }
  return {
    pid: child.pid ?? 0,
    settings: first.kind === "ready" ? first.settings : {},
    measure: request,
    close: async () => {
      if (!running.has(child)) return
      const timer = setTimeout(() => child.kill("SIGKILL"), shutdownGraceMs)
      await request({ kind: "close" }).catch(() => undefined)
      await exited
      clearTimeout(timer)
    }
  }
}
