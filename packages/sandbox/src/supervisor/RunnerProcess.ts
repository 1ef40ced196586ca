/** One runner process as the supervisor sees it: a socket, a pulse, and the right to kill. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { Duplex, PassThrough } from "node:stream"
import { runnerEntry } from "../Entries.ts"
import { type FromRunner, readFromRunner } from "../protocol/FromRunner.ts"
import { type ToRunner, writeToRunner } from "../protocol/ToRunner.ts"
import { FrameSplitter, FrameWriter } from "../protocol/Wire.ts"
import { confined, confinedOptions } from "./Confinement.ts"

export type RunnerState =
  | "booting"
  | "ready"
  /** Gets no new work; ends when its runs have, or soon. */
  | "retiring"
  | "dead"

export interface RunnerListener {
  readonly message: (message: FromRunner) => void
  /** Called once, whoever ended the process. `why` is for people. */
  readonly died: (why: string) => void
}

const flags = [
  // The stack of isolated-vm's threads is smaller than V8 believes.
  "--stack-size=984",
  "--disallow-code-generation-from-strings",
  // Demanded by isolated-vm, and code caches do not fit otherwise.
  "--no-node-snapshot",
  "--max-old-space-size=256"
]

/** The host stays responsive while runners compute. */
const niceness = 5
/** Of -1000 to 1000, and 0 for who was not told. */
const oomScore = 800
/** What waits for a runner to read it. All its builds loaded anew at once come to less. */
const untakenBytesMax = 256 * 1024 * 1024
/** While more than that waits, runs are not told of yet: bodies that came together are no fault of who reads them. */
const behindBytes = 32 * 1024 * 1024
const diagnosisLength = 4096
const saidLength = 300

export class RunnerProcess {
  state: RunnerState = "booting"
  /** On the monotonic clock. Starting up counts as a beat. */
  beatAt = performance.now()
  readonly startedAt = performance.now()
  /** Undefined when the system had no memory for a process. */
  readonly #child: ChildProcess | undefined
  readonly #socket: Duplex
  readonly #writer = new FrameWriter()
  readonly #listener: RunnerListener
  /** In the order in which they came. */
  #later: Array<() => void> = []
  #scheduled = false
  #reportedRss = 0
  #diagnosis = ""
  #why = ""

  constructor(frameBytesMax: number, listener: RunnerListener, program = runnerEntry) {
    this.#listener = listener
    this.#child = this.#spawn(program)
    // Without descriptors there is none, and the child tells next that it did not start.
    const stdio: ChildProcess["stdio"] | undefined = this.#child?.stdio
    const socket = stdio?.[3] instanceof Duplex ? stdio[3] : new PassThrough()
    this.#socket = socket
    const splitter = new FrameSplitter(frameBytesMax)
    socket.on("data", (chunk: Buffer) => {
      if (this.state === "dead") return
      try {
        splitter.push(chunk, (cursor) => this.#receive(readFromRunner(cursor)))
      } catch (error) {
        this.kill(error instanceof Error ? `it broke the protocol: ${error.message}` : "it broke the protocol")
      }
    })
    socket.on("drain", () => this.#goOn())
    // A write to a process that has just died. Its exit is what counts.
    socket.on("error", () => undefined)
    this.#child?.stderr?.on("data", (chunk: Buffer) => {
      this.#diagnosis = (this.#diagnosis + chunk.toString("utf8")).slice(-diagnosisLength)
    })
    this.#child?.on("error", (error) => this.#died(`it did not start: ${error.message}`))
    this.#child?.on("exit", (code, signal) => this.#died(`it ended with ${signal ?? `code ${code}`}`))
    this.#lowerPriority()
    this.#dieFirst()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** The last words on its standard error, on one line, for our own logs only: a guest may have brought them about. */
  get diagnosis(): string {
    return this.#diagnosis
      .replaceAll(/[^\x21-\x7e]+/g, " ")
      .trim()
      .slice(0, saidLength)
  }

  /** Calls back now, or when the runner has taken what it was told before: for what need not be told at once. */
  whenTaken(tell: () => void): void {
    if (this.#later.length > 0 || this.#isBehind) this.#later.push(tell)
    else tell()
  }

  send(message: ToRunner): void {
    if (this.state === "dead") return
    writeToRunner(this.#writer, message)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const buffers = this.#writer.take()
      if (this.state === "dead") return
      for (const buffer of buffers) this.#socket.write(buffer)
      if (this.#socket.writableLength > untakenBytesMax) this.kill("it does not take what it is told")
    })
  }

  /** Ends the process at once, whatever it is doing. */
  kill(why: string): void {
    if (this.state === "dead") return
    this.#why = why
    this.#child?.kill("SIGKILL")
    this.#died(why)
  }

  /** Resident memory in bytes, from the operating system where it tells, else as the runner itself last reported. */
  rssBytes(): number {
    if (process.platform !== "linux") return this.#reportedRss
    try {
      const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, "latin1"))?.[1]
      return kibibytes === undefined ? this.#reportedRss : Number(kibibytes) * 1024
    } catch {
      return this.#reportedRss
    }
  }

  /**
   * How long the thread that beats has waited for a processor while it could have run, ever, in milliseconds; 0 where the
   * operating system does not tell.
   */
  starvedMs(): number {
    try {
      const [, waited] = readFileSync(`/proc/${this.pid}/schedstat`, "latin1").split(" ")
      return Number(waited ?? 0) / 1e6
    } catch {
      return 0
    }
  }

  get #isBehind(): boolean {
    return this.#socket.writableLength + this.#writer.size > behindBytes
  }

  #goOn(): void {
    const waiting = this.#later
    let told = 0
    while (told < waiting.length && !this.#isBehind) waiting[told++]?.()
    this.#later = waiting.slice(told)
  }

  #spawn(program: URL): ChildProcess | undefined {
    const [command, ...args] = confined(program, flags)
    try {
      return spawn(command, args, confinedOptions())
    } catch (error) {
      // Of some failures a child tells; others are thrown.
      setImmediate(() => this.#died(`it did not start: ${error instanceof Error ? error.message : String(error)}`))
      return undefined
    }
  }

  #receive(message: FromRunner): void {
    if (this.state === "dead") return
    if (message.kind === "beat") {
      this.beatAt = performance.now()
      this.#reportedRss = message.rssBytes
      return
    }
    if (message.kind === "ready") {
      this.beatAt = performance.now()
      if (this.state === "booting") this.state = "ready"
    }
    this.#listener.message(message)
  }

  #died(why: string): void {
    if (this.state === "dead") return
    this.state = "dead"
    this.#later = []
    this.#socket.destroy()
    this.#child?.stderr?.destroy()
    this.#child?.unref()
    this.#listener.died(this.#why === "" ? why : this.#why)
  }

  /** Where memory runs out, the system is to end runners before their host. */
  #dieFirst(): void {
    if (process.platform !== "linux" || this.pid === undefined) return
    try {
      writeFileSync(`/proc/${this.pid}/oom_score_adj`, String(oomScore))
    } catch {
      // Not permitted here, or already gone.
    }
  }

  #lowerPriority(): void {
    if (this.pid === undefined) return
    try {
      setPriority(this.pid, niceness)
    } catch {
      // Not permitted here, or already gone: a runner then competes on equal terms.
    }
  }
}
