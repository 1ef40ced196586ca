/** One runner process, as the supervisor sees it: its socket, its heartbeat, and a way to kill it. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { Duplex, PassThrough } from "node:stream"
import { runnerEntry } from "../Entries.ts"
import { type FromRunner, readFromRunner } from "../protocol/FromRunner.ts"
import { type ToRunner, writeToRunner } from "../protocol/ToRunner.ts"
import { FrameSplitter, FrameWriter } from "../protocol/Wire.ts"
import { confinedCommand, confinedOptions } from "./Confinement.ts"
import { type RunnerDeath, toDeath } from "./RunnerDeath.ts"

export type RunnerState =
  | "booting"
  | "ready"
  /** Receives no new work; ends with its last run, or after a grace period. */
  | "retiring"
  | "dead"

export interface RunnerListener {
  readonly message: (message: FromRunner) => void
  /** Called once, for every cause of death. */
  readonly died: (death: RunnerDeath) => void
}

const flags = [
  // The stack of isolated-vm's threads is smaller than V8 assumes.
  "--stack-size=984",
  "--disallow-code-generation-from-strings",
  // Required by isolated-vm; without it V8 also rejects code caches.
  "--no-node-snapshot",
  "--max-old-space-size=256",
  // Handles of keys need the material of keys that are not extractable, which Node allows with a warning.
  "--disable-warning=DEP0204",
  // SIGUSR1 opens no debugger while the runner starts. Later its own handler ignores the signal.
  ...(process.allowedNodeEnvironmentFlags.has("--disable-sigusr1") ? ["--disable-sigusr1"] : [])
]

/** Priority of runners, so that the host stays responsive while they compute. */
const niceness = 5
/** Linux `oom_score_adj` of runners, -1000 to 1000; 0 by default. */
const oomScore = 800
/** Unsent bytes at which a runner is killed. Reloading all its builds at once needs less. */
const unsentBytesMax = 256 * 1024 * 1024
/** Unsent bytes above which invocations are deferred, so that many simultaneous bodies do not kill the runner. */
const congestionBytes = 32 * 1024 * 1024
/** Invocations above it are large, in characters. */
const largeInvocation = 64 * 1024
/** Unsent bytes above which large invocations are deferred. Those of neighbours would wait behind them in the socket. */
const largeCongestionBytes = 256 * 1024
/** Messages of one runner that the supervisor decodes in one turn of its event loop: less than a millisecond. */
const messagesPerTurn = 256
const diagnosisLength = 4096
const shownLength = 300

export class RunnerProcess {
  state: RunnerState = "booting"
  /** Time of the last heartbeat, on the monotonic clock. The start counts as one. */
  heartbeatAt = performance.now()
  readonly startedAt = performance.now()
  /** Undefined if the system could not create a process. */
  readonly #child: ChildProcess | undefined
  readonly #socket: Duplex
  readonly #writer = new FrameWriter()
  readonly #splitter: FrameSplitter
  /** Received bytes that are decoded in the next turn. Until then the socket is paused. */
  #undecoded: Buffer | undefined
  readonly #listener: RunnerListener
  /** Callbacks of `whenDrained`, oldest first: those of small invocations, and those of large ones. */
  #deferred: Array<() => void> = []
  #deferredLarge: Array<() => void> = []
  /** Callbacks of `whenRead`, oldest first. */
  #deferredWork: Array<() => void> = []
  /** Characters of the large messages that wait. */
  #deferredLength = 0
  #scheduled = false
  #reportedRss = 0
  #diagnosis = ""

  constructor(frameBytesMax: number, listener: RunnerListener, program = runnerEntry) {
    this.#listener = listener
    this.#child = this.#spawn(program)
    // Without free descriptors there is no socket, and the child emits an error next.
    const stdio: ChildProcess["stdio"] | undefined = this.#child?.stdio
    const socket = stdio?.[3] instanceof Duplex ? stdio[3] : new PassThrough()
    this.#socket = socket
    this.#splitter = new FrameSplitter(frameBytesMax)
    socket.on("data", (chunk: Buffer) => this.#decode(chunk, messagesPerTurn))
    socket.on("drain", () => this.#resume())
    // A write to a process that has just died. Its exit event follows.
    socket.on("error", () => undefined)
    this.#child?.stderr?.on("data", (chunk: Buffer) => {
      this.#diagnosis = (this.#diagnosis + chunk.toString("utf8")).slice(-diagnosisLength)
    })
    this.#child?.on("error", (error) => this.#died(unstarted(error)))
    this.#child?.on("exit", (code, signal) => {
      if (this.#undecoded !== undefined) this.#decode(this.#undecoded, Number.POSITIVE_INFINITY)
      this.#died(toDeath(code, signal))
    })
    this.#lowerPriority()
    this.#raiseOomScore()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** The end of its standard error, on one line. For the host's own logs only: a guest may have caused the text. */
  get diagnosis(): string {
    return this.#diagnosis
      .replaceAll(/[^\x21-\x7e]+/g, " ")
      .trim()
      .slice(0, shownLength)
  }

  /**
   * Calls back now or, if many bytes are unsent, when the runner has read them. For messages that can wait. A large message
   * of `length` characters waits until few bytes are unsent, and small ones overtake it. If the process dies, all callbacks
   * are called, because they release what they hold.
   */
  whenDrained(length: number, callback: () => void): void {
    if (this.state === "dead") callback()
    else if (length > largeInvocation) this.#whenNearlyDrained(length, callback)
    else if (this.#deferred.length > 0 || this.#unsentBytes > congestionBytes) this.#deferred.push(callback)
    else callback()
  }

  /**
   * Calls back now or, if many bytes wait for the runner, when it has read them. For work whose result will be sent. If the
   * process dies, all callbacks are called.
   */
  whenRead(callback: () => void): void {
    if (this.state !== "dead" && (this.#deferredWork.length > 0 || this.#waitingBytes > congestionBytes))
      this.#deferredWork.push(callback)
    else callback()
  }

  #whenNearlyDrained(length: number, callback: () => void): void {
    if (this.#deferredLarge.length === 0 && this.#unsentBytes <= largeCongestionBytes) {
      callback()
      return
    }
    this.#deferredLength += length
    this.#deferredLarge.push(() => {
      this.#deferredLength -= length
      callback()
    })
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
      if (this.#socket.writableLength > unsentBytesMax) this.kill("it does not read its messages", "protocol")
      // A socket that took everything at once emits no `drain`.
      else if (!this.#socket.writableNeedDrain) this.#resume()
    })
  }

  /** Runs `work`, which handles a message, and kills the process if the message breaks the protocol. */
  guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      const why = error instanceof Error ? `it broke the protocol: ${error.message}` : "it broke the protocol"
      this.kill(why, "protocol")
    }
  }

  /** Kills the process at once. */
  kill(why: string, cause: RunnerDeath["cause"] = "retired"): void {
    if (this.state === "dead") return
    this.#child?.kill("SIGKILL")
    this.#died({ cause, why })
  }

  /** Returns the resident memory in bytes: on Linux from the system, elsewhere from the last heartbeat. */
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
   * Returns the total time in milliseconds that the runner's main thread was runnable without a processor. Returns 0 on
   * systems without that statistic.
   */
  starvedMs(): number {
    try {
      const [, waited] = readFileSync(`/proc/${this.pid}/schedstat`, "latin1").split(" ")
      return Number(waited ?? 0) / 1e6
    } catch {
      return 0
    }
  }

  /** Returns the processor time of all threads of the runner in milliseconds, or null on systems without that statistic. */
  processorMs(): number | null {
    try {
      // The name in parentheses may contain spaces. After it, the 12th and 13th field are in clock ticks of 10 ms.
      const stat = readFileSync(`/proc/${this.pid}/stat`, "latin1")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return (Number(fields[11]) + Number(fields[12])) * 10
    } catch {
      return null
    }
  }

  get #unsentBytes(): number {
    return this.#socket.writableLength + this.#writer.size
  }

  /** Unsent bytes with the large messages that wait. */
  get #waitingBytes(): number {
    return this.#unsentBytes + this.#deferredLength
  }

  /** Calls back, in order, while few bytes are unsent. */
  #resume(): void {
    while (this.#unsentBytes <= congestionBytes && this.#deferred.length > 0) this.#deferred.shift()?.()
    while (this.#unsentBytes <= largeCongestionBytes && this.#deferredLarge.length > 0) this.#deferredLarge.shift()?.()
    while (this.#waitingBytes <= congestionBytes && this.#deferredWork.length > 0) this.#deferredWork.shift()?.()
  }

  #spawn(program: URL): ChildProcess | undefined {
    try {
      const [command, ...args] = confinedCommand(program, flags)
      return spawn(command, args, confinedOptions())
    } catch (error) {
      // Some failures are emitted by the child; others are thrown, also by the tests of its restrictions.
      setImmediate(() => this.#died(unstarted(error)))
      return undefined
    }
  }

  /** Decodes at most `messagesMax` messages. Pauses the socket until the others are decoded, in later turns. */
  #decode(chunk: Buffer, messagesMax: number): void {
    this.#undecoded = undefined
    if (this.state === "dead") return
    this.guard(() => {
      this.#undecoded = this.#splitter.push(chunk, (cursor) => this.#receive(readFromRunner(cursor)), messagesMax)
    })
    if (this.#undecoded === undefined) return
    this.#socket.pause()
    setImmediate(() => {
      if (this.#undecoded === undefined || this.state === "dead") return
      // Its heartbeats may be among the bytes that the supervisor has not read yet.
      this.heartbeatAt = performance.now()
      this.#decode(this.#undecoded, messagesMax)
      if (this.#undecoded === undefined) this.#socket.resume()
    })
  }

  #receive(message: FromRunner): void {
    if (this.state === "dead") return
    if (message.kind === "heartbeat") {
      this.heartbeatAt = performance.now()
      this.#reportedRss = message.rssBytes
      return
    }
    if (message.kind === "ready") {
      this.heartbeatAt = performance.now()
      if (this.state === "booting") this.state = "ready"
    }
    this.#listener.message(message)
  }

  #died(death: RunnerDeath): void {
    if (this.state === "dead") return
    this.state = "dead"
    const deferred = [...this.#deferred, ...this.#deferredLarge, ...this.#deferredWork]
    this.#deferred = []
    this.#deferredLarge = []
    this.#deferredWork = []
    this.#socket.destroy()
    this.#child?.stderr?.destroy()
    this.#child?.unref()
    this.#listener.died(death)
    for (const callback of deferred) callback()
  }

  /** Makes the system kill runners before their host if memory runs out. */
  #raiseOomScore(): void {
    if (process.platform !== "linux" || this.pid === undefined) return
    try {
      writeFileSync(`/proc/${this.pid}/oom_score_adj`, String(oomScore))
    } catch {
      // Not permitted here, or the process has ended.
    }
  }

  #lowerPriority(): void {
    if (this.pid === undefined) return
    try {
      setPriority(this.pid, niceness)
    } catch {
      // Not permitted here, or the process has ended: without it a runner has the host's priority.
    }
  }
}

const unstarted = (error: unknown): RunnerDeath => ({
  cause: "unstarted",
  why: `it did not start: ${error instanceof Error ? error.message : String(error)}`
})
