/** One invocation in the pool. It ends exactly once, even if runners die. */
import type { Execution, GuestLog, HostCallRefused, Invocation, Outcome } from "@weft/core/adapter"
import { Cause, Clock, type Context, Effect, Exit, type Fiber, Option } from "effect"
import type { FromRunner, RunEndMessage } from "../protocol/FromRunner.ts"
import type { StopReason } from "../protocol/ToRunner.ts"
import { ProtocolError } from "../protocol/Wire.ts"
import type { Build, IsolateHandle } from "./Build.ts"
import { requireJson } from "./outcomes.ts"
import type { RunnerProcess } from "./RunnerProcess.ts"

/** Result of a host call for the guest. If `ok` is false, `text` is the error's name and `detail` its message. */
export interface HostCallResult {
  readonly ok: boolean
  readonly text: string
  readonly detail: string
}

/** A host call that was received and counts as pending. Exactly one of the functions is called. */
export interface ReceivedCall {
  /** Performs the call, unless the run was stopped, has ended, or began again in another isolate. */
  readonly start: () => void
  /** Fails the call, because too many calls of the environment wait. */
  readonly refuse: () => void
}

/** Limits of one run in the host. The kernel enforces the same limits: a run above them has escaped its isolate. */
export interface JobLimits {
  readonly pendingHostCalls: number
  readonly hostCallBytes: number
  readonly logBytes: number
  readonly heapBytes: number
}

/** Overhead that the kernel counts per log line, and the size of the last line, which reports the dropped ones. */
const logLineBytes = 16
const lastLineBytes = 256

/**
 * Maximum bytes of pending host calls of all runs of a build on this node. A run may have 1000 of them, and a build
 * 1000 runs.
 */
const buildCallBytesMax = 128 * 1024 * 1024

const retriesMax = 2

/** Maximum length of an operation's name, in characters; all real ones are far shorter. */
const opLengthMax = 256

export class Job {
  readonly id: number
  readonly build: Build
  readonly invocation: Invocation
  readonly startedAt = performance.now()
  /** The runner that executes it now. */
  runner: RunnerProcess | undefined
  isolate: IsolateHandle | undefined
  /** True once its invocation was sent to the runner. */
  isSent = false
  /** True if it made a host call or wrote to its log, so that a second execution would be visible. */
  hasSideEffects = false
  /** Number of retries after the loss of a runner or isolate. */
  retries = 0
  stopReason: StopReason | undefined
  /** The end of the run, which the runner has reported, until its turn. */
  endMessage: RunEndMessage | undefined
  #ended = false
  #outcome: Outcome | undefined
  #cpuMs = 0
  #heapBytes = 0
  #logBytes = 0
  /** Host calls that were received and have not ended. */
  #pendingCalls = 0
  #fibers: Set<Fiber.Fiber<string, HostCallRefused>> | undefined
  /** Those of `#fibers` that only wait. */
  #waits: Set<Fiber.Fiber<string, HostCallRefused>> | undefined
  readonly #limits: JobLimits
  readonly #context: Context.Context<never>
  readonly #clock: Clock.Clock
  readonly #settle: (execution: Execution) => void
  readonly #reject: (reason: string) => void
  timer: NodeJS.Timeout | undefined

  constructor(
    id: number,
    build: Build,
    invocation: Invocation,
    limits: JobLimits,
    fiber: Fiber.Fiber<unknown, unknown>,
    settle: (execution: Execution) => void,
    reject: (reason: string) => void
  ) {
    this.id = id
    this.build = build
    this.invocation = invocation
    this.#limits = limits
    this.#context = fiber.context
    this.#clock = fiber.getRef(Clock.Clock)
    this.#settle = settle
    this.#reject = reject
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Length of its invocation in characters. */
  get length(): number {
    const { svc, body, replay = [] } = this.invocation
    return replay.reduce((length, text) => length + text.length, svc.length + (body?.text.length ?? 0))
  }

  /** True if it may run again: a second execution is not visible, no state is lost, and it had few retries. */
  get isRepeatable(): boolean {
    return !this.hasSideEffects && !this.build.hasState && this.retries < retriesMax
  }

  /** True if the guest has ended and only its host calls are pending. */
  get guestEnded(): boolean {
    return this.#outcome !== undefined
  }

  /** True while its guest can receive answers to host calls. */
  get expectsAnswers(): boolean {
    return !this.#ended && this.#outcome === undefined && this.stopReason === undefined
  }

  /** True while time in the runner's queue does not count towards the timeout. */
  get isQueueTimeFree(): boolean {
    const { timeoutMs, queueTimeoutMs = 0 } = this.invocation
    const waitedMs = performance.now() - this.startedAt
    return queueTimeoutMs > 0 && waitedMs < queueTimeoutMs + timeoutMs && this.#outcome === undefined
  }

  /** Adds usage that the runner reports, capped at what is possible: one thread since the start, in one isolate. */
  addUsage(cpuMs: number, heapBytes: number): void {
    this.#cpuMs = Math.min(this.#cpuMs + cpuMs, performance.now() - this.startedAt)
    this.#heapBytes = Math.max(this.#heapBytes, Math.min(heapBytes, 2 * this.#limits.heapBytes))
  }

  log(message: Extract<FromRunner, { readonly kind: "log" }>): void {
    const { level, message: text, data } = message
    if (data !== null) requireJson(data)
    this.#logBytes += text.length + (data?.length ?? 0) + logLineBytes
    if (this.#logBytes > this.#limits.logBytes + lastLineBytes)
      throw new ProtocolError(`a run logged more than ${this.#limits.logBytes} bytes`)
    this.hasSideEffects = true
    const line: GuestLog = { level, message: text, data, time: this.#clock.currentTimeMillisUnsafe() }
    this.invocation.onLog(line)
  }

  /**
   * Checks and counts a host call. Returns null if it was refused at once. `reply` is called once, unless the job ends
   * before.
   */
  receiveCall(
    message: Extract<FromRunner, { readonly kind: "call" }>,
    reply: (result: HostCallResult) => void
  ): ReceivedCall | null {
    const { op, payload } = message
    if (this.#pendingCalls >= this.#limits.pendingHostCalls)
      throw new ProtocolError("a run has too many pending host calls")
    if (op.length > opLengthMax) throw new ProtocolError(`the name of an operation has over ${opLengthMax} characters`)
    if (payload.length > this.#limits.hostCallBytes) throw new ProtocolError("the argument of a host call is too large")
    if (this.build.callBytes + payload.length > buildCallBytesMax) {
      reply(callBytesExceeded)
      return null
    }
    this.build.callBytes += payload.length
    this.#pendingCalls++
    const { retries } = this
    return {
      start: () => {
        if (this.#ended || this.stopReason !== undefined || this.retries !== retries) this.#callEnded(payload)
        else this.#startCall(op, payload, reply)
      },
      refuse: () => {
        reply(callsExceeded)
        this.#callEnded(payload)
      }
    }
  }

  #startCall(op: string, payload: string, reply: (result: HostCallResult) => void): void {
    this.hasSideEffects = true
    this.#fibers ??= new Set()
    const fibers = this.#fibers
    const effect = Effect.tapCause(this.invocation.onHostCall({ op, payload }), (cause) =>
      Cause.hasDies(cause) ? Effect.logError(`The host call ${op} failed`, cause) : Effect.void
    )
    const fiber = Effect.runForkWith(this.#context)(effect)
    fibers.add(fiber)
    if (waitingCalls.has(op)) {
      this.#waits ??= new Set()
      this.#waits.add(fiber)
    }
    fiber.addObserver((exit) => {
      fibers.delete(fiber)
      this.#waits?.delete(fiber)
      if (this.expectsAnswers) reply(this.#toResult(exit))
      this.#callEnded(payload)
    })
  }

  #callEnded(payload: string): void {
    this.#pendingCalls--
    this.build.callBytes -= payload.length
    this.#tryEnd()
  }

  /**
   * Records that the guest has ended. The job ends after its pending host calls, which are part of the run, except those that
   * only wait.
   */
  finish(outcome: Outcome): void {
    if (this.#ended || this.#outcome !== undefined) return
    this.#outcome = outcome
    if (this.stopReason !== undefined) this.interruptCalls()
    else if (this.#waits !== undefined) for (const fiber of this.#waits) fiber.interruptUnsafe()
    this.#tryEnd()
  }

  /** Ends the job now. Later messages about it are ignored. */
  end(outcome: Outcome): void {
    if (this.#ended) return
    this.#outcome = outcome
    this.interruptCalls()
    this.#end(outcome)
  }

  /** Ends the job because no runner can execute it. */
  reject(reason: string): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.timer)
    this.interruptCalls()
    this.#reject(reason)
  }

  interruptCalls(): void {
    if (this.#fibers === undefined) return
    for (const fiber of this.#fibers) fiber.interruptUnsafe()
  }

  #tryEnd(): void {
    if (this.#outcome !== undefined && this.#pendingCalls === 0) this.#end(this.#outcome)
  }

  #end(outcome: Outcome): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.timer)
    this.#settle({
      outcome,
      usage: {
        cpu_ms: this.#cpuMs,
        wall_ms: performance.now() - this.startedAt,
        heap_bytes: Math.round(this.#heapBytes)
      }
    })
  }

  #toResult(exit: Exit.Exit<string, HostCallRefused>): HostCallResult {
    if (Exit.isSuccess(exit)) {
      if (Buffer.byteLength(exit.value) <= this.#limits.hostCallBytes) return { ok: true, text: exit.value, detail: "" }
      return { ok: false, text: "LimitExceeded", detail: `the answer is over ${this.#limits.hostCallBytes} bytes` }
    }
    const refused = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
    // The message of a defect is not for the guest: it may contain details of the host.
    if (refused === undefined) return { ok: false, text: "HostCallFailed", detail: "the host could not do this now" }
    return { ok: false, text: refused.name, detail: refused.message }
  }
}

/** Host calls without an effect of their own: of durable functions, and of connections that wait for their peer. */
const waitingCalls: ReadonlySet<string> = new Set([
  "workflow.wait",
  "workflow.cancellation",
  "websocket.receive",
  "socket.read"
])

const callsExceeded: HostCallResult = {
  ok: false,
  text: "LimitExceeded",
  detail: "too many host calls of this environment wait"
}

const callBytesExceeded: HostCallResult = {
  ok: false,
  text: "LimitExceeded",
  detail: `the pending host calls of this build exceed ${buildCallBytesMax} bytes`
}
