/** A program as the suite sees it: a process that measures when it is told to. */
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
  /** Of the program. */
  readonly file: URL
}

const node = ["--conditions=weft-source", "--max-semi-space-size=16", "--disable-warning=DeprecationWarning"]

/** How long a program may take to end, in milliseconds; then it is killed. */
const farewellMs = 10_000

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
  // It may have ended meanwhile: `exit` tells of that.
  child.on("error", () => undefined)
  void exited.then(() => running.delete(child))

  let waiting: ((answer: Answer) => void) | undefined
  const hear = (answer: Answer): void => {
    waiting?.(answer)
    waiting = undefined
  }
  child.on("message", (text) => hear(JSON.parse(String(text))))
  child.once("exit", (code, signal) => hear({ kind: "failed", reason: `The program ended with ${signal ?? code}` }))
  const next = (): Promise<Answer> => {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.reject(new Error("The program has ended"))
    return new Promise((resolve, reject) => {
      waiting = (answer) => (answer.kind === "failed" ? reject(new Error(answer.reason)) : resolve(answer))
    })
  }
  const first = await next()
  const ask = async (command: Command): Promise<Figures> => {
    const answered = next()
    child.send(JSON.stringify(command))
    const answer = await answered
    return answer.kind === "measured" ? answer.figures : {}
  }
  return {
    pid: child.pid ?? 0,
    settings: first.kind === "ready" ? first.settings : {},
    measure: ask,
    close: async () => {
      if (!running.has(child)) return
      const timer = setTimeout(() => child.kill("SIGKILL"), farewellMs)
      await ask({ kind: "close" }).catch(() => undefined)
      await exited
      clearTimeout(timer)
    }
  }
}
