/** One invocation on its way through the pool: it ends exactly once, whatever happens to runners. */
import type { Execution, GuestLog, HostCallRefused, Invocation, Outcome } from "@weft/core"
import { Cause, Clock, type Context, Effect, Exit, type Fiber, Option } from "effect"
import type { FromRunner } from "../protocol/FromRunner.ts"
import type { StopReason } from "../protocol/ToRunner.ts"
import { ProtocolError } from "../protocol/Wire.ts"
import type { Build, HostedIsolate } from "./Build.ts"
import type { RunnerProcess } from "./RunnerProcess.ts"
import { requireJson } from "./verdicts.ts"

/** What the guest is told of its host call. */
export interface Answer {
  readonly ok: boolean
  readonly text: string
  readonly detail: string
}

/** How much a run may make its host do. The kernel has the same caps: passing them here means that it was broken. */
export interface JobLimits {
  readonly pendingHostCalls: number
  readonly hostCallBytes: number
  readonly logBytes: number
  readonly heapBytes: number
}

/** What the kernel counts for a line beside its text, and the last line, which says that there are no more. */
const logLineBytes = 16
const lastLineBytes = 256

/**
 * What the host holds of calls that it has not answered, of all runs of a build on this node: a run may have a thousand
 * of them, and there may be a thousand runs.
 */
const buildCallBytesMax = 128 * 1024 * 1024

/** The name of an operation, in characters: none of ours comes near. */
const opLengthMax = 256

export class Job {
  readonly id: number
  readonly build: Build
  readonly invocation: Invocation
  readonly beganAt = performance.now()
  /** Where it runs now. */
  runner: RunnerProcess | undefined
  isolate: HostedIsolate | undefined
  /** Whether the outside has seen anything of it, so that running it again would show. */
  touched = false
  /** How often it was begun anew. */
  repeats = 0
  stopping: StopReason | undefined
  #ended = false
  #outcome: Outcome | undefined
  #cpuMs = 0
  #heapBytes = 0
  #logBytes = 0
  #fibers: Set<Fiber.Fiber<string, HostCallRefused>> | undefined
  readonly #limits: JobLimits
  readonly #context: Context.Context<never>
  readonly #clock: Clock.Clock
  readonly #settle: (execution: Execution) => void
  readonly #refuse: (reason: string) => void
  timer: NodeJS.Timeout | undefined

  constructor(
    id: number,
    build: Build,
    invocation: Invocation,
    limits: JobLimits,
    fiber: Fiber.Fiber<unknown, unknown>,
    settle: (execution: Execution) => void,
    refuse: (reason: string) => void
  ) {
    this.id = id
    this.build = build
    this.invocation = invocation
    this.#limits = limits
    this.#context = fiber.context
    this.#clock = fiber.getRef(Clock.Clock)
    this.#settle = settle
    this.#refuse = refuse
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Whether the guest is through and only host calls that it began are waited for. */
  get closing(): boolean {
    return this.#outcome !== undefined
  }

  /** Whether it may have waited until now instead of going on. */
  get mayWait(): boolean {
    const { timeoutMs, patienceMs = 0 } = this.invocation
    const waitedMs = performance.now() - this.beganAt
    return patienceMs > 0 && waitedMs < patienceMs + timeoutMs && this.#outcome === undefined
  }

  /** As the runner says, as far as it can be true: one thread has computed since the beginning, in one isolate. */
  used(cpuMs: number, heapBytes: number): void {
    this.#cpuMs = Math.min(this.#cpuMs + cpuMs, performance.now() - this.beganAt)
    this.#heapBytes = Math.max(this.#heapBytes, Math.min(heapBytes, 2 * this.#limits.heapBytes))
  }

  log(message: Extract<FromRunner, { readonly kind: "log" }>): void {
    const { level, message: text, data } = message
    if (data !== null) requireJson(data)
    this.#logBytes += text.length + (data?.length ?? 0) + logLineBytes
    if (this.#logBytes > this.#limits.logBytes + lastLineBytes) throw new ProtocolError("too many log lines")
    this.touched = true
    const line: GuestLog = { level, message: text, data, time: this.#clock.currentTimeMillisUnsafe() }
    this.invocation.onLog(line)
  }

  /** Performs a host call; `answer` is called once, unless the job ends before. */
  call(message: Extract<FromRunner, { readonly kind: "call" }>, answer: (answer: Answer) => void): void {
    this.#fibers ??= new Set()
    if (this.#fibers.size >= this.#limits.pendingHostCalls) throw new ProtocolError("too many host calls")
    if (message.op.length > opLengthMax) throw new ProtocolError("an operation has no such name")
    if (message.payload.length > this.#limits.hostCallBytes) throw new ProtocolError("a host call is too large")
    const { op, payload } = message
    const { build } = this
    if (build.callBytes + payload.length > buildCallBytesMax) {
      answer(tooMuchWaits)
      return
    }
    build.callBytes += payload.length
    this.touched = true
    const fibers = this.#fibers
    const effect = Effect.tapCause(this.invocation.onHostCall({ op, payload }), (cause) =>
      Cause.hasDies(cause) ? Effect.logError(`The host call ${op} failed`, cause) : Effect.void
    )
    const fiber = Effect.runForkWith(this.#context)(effect)
    fibers.add(fiber)
    fiber.addObserver((exit) => {
      fibers.delete(fiber)
      build.callBytes -= payload.length
      if (this.#ended) return
      if (this.#outcome === undefined && this.stopping === undefined) answer(this.#answerOf(exit))
      this.#tryEnd()
    })
  }

  /** The guest is through. The end waits for the host calls that it began: they are part of the run. */
  finish(outcome: Outcome): void {
    if (this.#ended || this.#outcome !== undefined) return
    this.#outcome = outcome
    if (this.stopping !== undefined) this.interruptCalls()
    this.#tryEnd()
  }

  /** Ends the job now, whatever is still going on; it is not listened to any more. */
  end(outcome: Outcome): void {
    if (this.#ended) return
    this.#outcome = outcome
    this.interruptCalls()
    this.#end(outcome)
  }

  /** Ends the job because nothing can run it. */
  refuse(reason: string): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.timer)
    this.interruptCalls()
    this.#refuse(reason)
  }

  interruptCalls(): void {
    if (this.#fibers === undefined) return
    for (const fiber of this.#fibers) fiber.interruptUnsafe()
  }

  #tryEnd(): void {
    if (this.#outcome !== undefined && (this.#fibers === undefined || this.#fibers.size === 0)) this.#end(this.#outcome)
  }

  #end(outcome: Outcome): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.timer)
    this.#settle({
      outcome,
      usage: { cpu_ms: this.#cpuMs, wall_ms: performance.now() - this.beganAt, heap_bytes: Math.round(this.#heapBytes) }
    })
  }

  #answerOf(exit: Exit.Exit<string, HostCallRefused>): Answer {
    if (Exit.isSuccess(exit)) {
      if (Buffer.byteLength(exit.value) <= this.#limits.hostCallBytes) return { ok: true, text: exit.value, detail: "" }
      return { ok: false, text: "LimitExceeded", detail: `the answer is over ${this.#limits.hostCallBytes} bytes` }
    }
    const refused = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
    // A defect says nothing to the guest: what it carries is about the host.
    if (refused === undefined) return { ok: false, text: "HostCallFailed", detail: "the host could not do this now" }
    return { ok: false, text: refused.name, detail: refused.message }
  }
}

const tooMuchWaits: Answer = {
  ok: false,
  text: "LimitExceeded",
  detail: `the host calls of this build that wait for their answers have over ${buildCallBytesMax} bytes`
}
