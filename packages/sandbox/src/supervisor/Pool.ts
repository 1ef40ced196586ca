/**
 * The supervisor: sends jobs to runners, receives their results, and ends each job exactly once.
 *
 * It consists of plain classes and callbacks, because this is the hot path; Effect begins in `Isolated.ts`.
 */
import type { Outcome } from "@weft/core/adapter"
import type { FromRunner, RunEndMessage } from "../protocol/FromRunner.ts"
import type { StopReason } from "../protocol/ToRunner.ts"
import { Attribution } from "./Attribution.ts"
import type { Build, IsolateHandle } from "./Build.ts"
import { Isolates } from "./Isolates.ts"
import type { Job } from "./Job.ts"
import { JobClock } from "./JobClock.ts"
import { JobTurns } from "./JobTurns.ts"
import { loadFailureOutcome, lossOutcome, requireShort, stoppedOutcome, toOutcome } from "./outcomes.ts"
import type { PoolOptions } from "./PoolOptions.ts"
import type { RunnerDeath, Termination } from "./RunnerDeath.ts"
import { type RunnerListener, RunnerProcess } from "./RunnerProcess.ts"
import { RunnerSlots } from "./RunnerSlots.ts"
import { RunnerView } from "./RunnerView.ts"
import { Strikes } from "./Strikes.ts"
import { sendInvocation } from "./sendInvocation.ts"

/** Maximum time for a runner to confirm a stop. After that, the run's messages are ignored. */
const stopTimeoutMs = 400
/** Grace period for the other runs of a runner with a thread that cannot be stopped. */
const unresponsiveGraceMs = 1000
/** After that, such a runner's runs that are not computing are moved: they may wait for a lock of the stuck thread. */
const unresponsiveMoveMs = 50

export class Pool {
  readonly strikes: Strikes
  readonly views = new Map<RunnerProcess, RunnerView>()
  readonly isolates: Isolates
  readonly slots: RunnerSlots
  readonly attribution: Attribution
  readonly #clock = new JobClock((job) => this.stop(job, "timeout"))
  readonly #jobTurns: JobTurns
  readonly #options: PoolOptions
  #guestCache: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#jobTurns = new JobTurns(options.turns, (job, message) => this.#runEnded(job, message))
    this.strikes = new Strikes(options)
    this.attribution = new Attribution(this.strikes, options)
    const { callsPerIsolate, limits } = options
    this.isolates = new Isolates({ callsPerIsolate, heapBytes: limits.heapBytes })
    this.slots = new RunnerSlots(options.runners, {
      start: () => this.#start(),
      isIdle: (runner) => this.views.get(runner)?.jobs.size === 0,
      release: (runner) => this.#release(runner)
    })
  }

  /** Starts the job and its wall clock. */
  run(job: Job): void {
    this.#clock.start(job)
    this.#dispatch(job)
  }

  /** Loads a build in the runner of its first job, unless it is a suspect. If loading fails, `done` is not called. */
  warm(build: Build, done: () => void): void {
    const load = (runner: RunnerProcess): void => {
      const view = this.views.get(runner)
      const isKnown = view === undefined || build.isolates.has(runner)
      const isolate = isKnown ? undefined : this.isolates.create(view, build, performance.now())
      if (isolate === undefined) done()
      else isolate.onLoaded = done
    }
    if (this.strikes.placement(build.strikeId, performance.now()) === "shared") {
      this.slots.acquire("shared", build.key, load, done)
    } else {
      done()
    }
  }

  /** Ends a job from outside: when its guest confirms the stop, and after 400 ms at the latest. */
  stop(job: Job, reason: StopReason): void {
    if (job.ended || job.stopReason !== undefined) return
    job.stopReason = reason
    clearTimeout(job.timer)
    job.interruptCalls()
    const outcome = stoppedOutcome(reason, job.invocation.timeoutMs)
    const { runner, isolate } = job
    // A large invocation may wait for the socket of its runner.
    if (runner === undefined || isolate === undefined || !job.isSent || runner.state === "dead" || job.guestEnded) {
      this.#end(job, outcome)
      return
    }
    runner.send({ kind: "stop", isolate: isolate.id, run: job.id, reason })
    job.timer = setTimeout(() => this.#end(job, outcome), stopTimeoutMs)
  }

  /** Sends the runner no more work. Kills it after its last job, and after `graceMs` at the latest. */
  retire(view: RunnerView, why: string, graceMs: number): void {
    const { runner } = view
    if (runner.state === "dead" || runner.state === "retiring") return
    runner.state = "retiring"
    this.slots.replace(runner, false)
    view.terminating = true
    if (view.jobs.size === 0) runner.kill(why, view.retirement)
    else view.timer = setTimeout(() => runner.kill(why, view.retirement), graceMs)
    this.#requeueWaiting(view)
  }

  /** Admits waiting builds to the runner, in order, while its memory allows. */
  admit(view: RunnerView): void {
    for (;;) {
      const build = this.isolates.nextAdmissible(view, performance.now())
      if (build === undefined) return
      this.#resume(build)
    }
  }

  /** Kills the runner at once. Its computing jobs end with the outcome; the others are retried. */
  terminate(view: RunnerView, { cause, why, outcome, wasIdle }: Termination): void {
    this.attribution.attribute(view, { cause, why }, wasIdle)
    for (const job of view.computingJobs()) this.#end(job, outcome)
    view.terminating = true
    view.runner.kill(why, cause)
  }

  /** Starts a runner outside the pool, for other kinds of work. The caller must kill it. */
  startUnpooled(frameBytesMax: number, listener: RunnerListener): RunnerProcess {
    const runner = new RunnerProcess(frameBytesMax, listener, this.#options.runnerProgram)
    runner.send({
      kind: "boot",
      limits: JSON.stringify(this.#options.runnerLimits),
      guest: this.#options.guestScripts.guest,
      optional: this.#options.guestScripts.optional,
      cache: this.#guestCache
    })
    return runner
  }

  close(): void {
    this.#closed = true
    this.slots.close()
    for (const view of [...this.views.values()]) {
      for (const job of view.jobs.values()) job.end({ _tag: "RunnerLost", message: "the sandbox was closed" })
      view.runner.kill("the sandbox was closed")
    }
  }

  #start(): RunnerProcess {
    const { limits } = this.#options
    const frameBytesMax = 4 * Math.max(limits.resultBytes, limits.hostCallBytes, limits.logBytes) + 4 * 1024 * 1024
    const listener: RunnerListener = {
      message: (message) => this.#message(view, message),
      died: (death) => this.#died(view, death)
    }
    const runner = this.startUnpooled(frameBytesMax, listener)
    const view = new RunnerView(runner, this.#options)
    this.views.set(runner, view)
    return runner
  }

  #dispatch(job: Job): void {
    if (job.ended) return
    const { home, strikeId, key } = job.build
    const placement = this.strikes.placement(strikeId, performance.now())
    if (placement === "quarantined") {
      this.#end(job, { _tag: "Quarantined", message: this.attribution.describeQuarantine(`build ${strikeId}`) })
      return
    }
    const place = (runner: RunnerProcess) => this.#place(job, runner)
    if (home !== undefined) place(home)
    else this.slots.acquire(placement, key, place, (reason) => job.reject(reason))
  }

  #place(job: Job, runner: RunnerProcess): void {
    const view = this.views.get(runner)
    if (job.ended || view === undefined) return
    const { build } = job
    const now = performance.now()
    const isolate = this.isolates.acquire(view, build, now)
    if (isolate === undefined) view.memory.enqueue(build)
    if (isolate === undefined || isolate.jobs.size >= this.#options.limits.concurrentRuns) {
      if (build.waiting.length < this.#options.queuedPerBuild) build.waiting.push(job)
      else job.reject(`${this.#options.queuedPerBuild} runs of build ${build.buildId} are already queued`)
      return
    }
    build.lastUsedAt = now
    isolate.lastUsedAt = now
    isolate.calls++
    isolate.jobs.set(job.id, job)
    view.jobs.set(job.id, job)
    job.runner = runner
    job.isolate = isolate
    job.isSent = false
    runner.whenDrained(job.length, () => this.#invoke(job, isolate, runner))
  }

  #invoke(job: Job, isolate: IsolateHandle, runner: RunnerProcess): void {
    // The job may have been stopped or moved to another runner in the meantime.
    if (job.ended || job.stopReason !== undefined || job.isolate !== isolate) return
    job.isSent = true
    sendInvocation(runner, isolate, job)
  }

  /** Dispatches waiting jobs of the build, up to its limit of concurrent runs. */
  #resume(build: Build): void {
    for (let left = Math.min(build.waiting.length, this.#options.limits.concurrentRuns); left > 0; left--) {
      const job = build.takeWaiting()
      if (job === undefined) return
      this.#dispatch(job)
    }
  }

  /** Moves the builds that wait for memory in this runner to other runners. */
  #requeueWaiting(view: RunnerView): void {
    for (const build of view.memory.waiting) {
      view.memory.dequeue(build)
      this.#resume(build)
    }
  }

  #release(runner: RunnerProcess): void {
    const view = this.views.get(runner)
    if (view !== undefined) this.retire(view, "another build needs its place", 0)
  }

  #message(view: RunnerView, message: FromRunner): void {
    switch (message.kind) {
      case "ready":
        view.markBooted()
        this.slots.runnerBooted()
        if (message.cache.length > 0 && this.#guestCache.length === 0) this.#guestCache = message.cache
        return
      case "call":
        this.#jobTurns.receiveCall(view, message)
        return
      case "log":
        view.jobs.get(message.run)?.log(message)
        return
      case "loadFailed":
        this.#loadFailed(view, message)
        return
      case "lost":
        this.#lost(view, message)
        return
      case "runAge": {
        const job = view.jobs.get(message.run)
        if (job !== undefined) this.#clock.reportAge(job, message.ms)
        return
      }
      case "unresponsive":
        this.#unresponsive(view, message.isolate)
        return
      case "busy":
      case "idle":
      case "draining":
      case "loaded":
        view.update(message)
        return
      case "heartbeat":
        return
      default:
        this.#jobTurns.receiveEnd(view, message)
        return
    }
  }

  #runEnded(job: Job, message: RunEndMessage): void {
    job.build.hasState = job.build.keepsState
    job.addUsage(message.cpuMs, message.heapBytes)
    if (job.isolate !== undefined) job.isolate.heapBytes = message.heapBytes
    if (job.stopReason !== undefined) {
      this.#end(job, stoppedOutcome(job.stopReason, job.invocation.timeoutMs))
      return
    }
    if (message.kind === "stopped") {
      this.#end(job, { _tag: "Cancelled" })
      return
    }
    const outcome = toOutcome(message, this.#options.limits)
    if (outcome._tag !== "Threw") {
      this.strikes.clearSuspicion(job.build.strikeId)
      this.#finish(job, outcome)
      return
    }
    this.#finish(job, { ...outcome, stack: this.#options.mapStack(job.build, outcome.stack) })
  }

  #loadFailed(view: RunnerView, message: Extract<FromRunner, { readonly kind: "loadFailed" }>): void {
    const isolate = view.removeIsolate(message.isolate)
    if (isolate === undefined) return
    requireShort(message.name, message.message, message.stack)
    const { limits, mapStack } = this.#options
    const outcome = loadFailureOutcome({ ...message, stack: mapStack(isolate.build, message.stack) }, limits)
    for (const job of isolate.jobs.values()) this.#end(job, outcome)
  }

  /** Handles the loss of an isolate. The run that was computing ends; the others are retried if that is not visible. */
  #lost(view: RunnerView, message: Extract<FromRunner, { readonly kind: "lost" }>): void {
    const { cause, computing } = message
    const isolate = view.removeIsolate(message.isolate)
    if (isolate === undefined) return
    const { build } = isolate
    view.rememberLost(message.isolate, build)
    for (const job of isolate.jobs.values()) this.#jobTurns.handleEnd(view, job)
    if (cause === "cpu" || cause === "background") this.strikes.overrun(build.strikeId, performance.now())
    for (const job of isolate.jobs.values()) {
      if (job.id === computing) job.addUsage(message.cpuMs, message.heapBytes)
      if (job.id === computing && job.stopReason === undefined) {
        this.#end(job, lossOutcome(cause, this.#options.limits))
      } else {
        this.#retry(job, `another run of build ${build.buildId} ended the isolate (${cause})`)
      }
    }
  }

  #unresponsive(view: RunnerView, id: number): void {
    // One incident is one strike, however many messages report it.
    const build = view.runner.state === "retiring" ? undefined : view.findLostBuild(id)
    const why = "a thread in it cannot be stopped"
    if (build !== undefined) {
      view.retirement = "blocked"
      this.attribution.strike(build, why)
    }
    if (view.runner.state !== "retiring") setTimeout(() => this.#moveWaiting(view, why), unresponsiveMoveMs)
    this.retire(view, why, unresponsiveGraceMs)
  }

  /** Runs the jobs that are not computing in another runner, if possible. */
  #moveWaiting(view: RunnerView, why: string): void {
    if (this.#closed || !this.views.has(view.runner)) return
    for (const job of view.waitingJobs()) {
      if (!job.isRepeatable) continue
      job.build.isolates.delete(view.runner)
      this.#retry(job, why)
    }
  }

  #died(view: RunnerView, death: RunnerDeath): void {
    const { runner } = view
    const { why } = death
    clearTimeout(view.timer)
    if (!this.#closed) for (const job of view.jobs.values()) this.#jobTurns.handleEnd(view, job)
    this.views.delete(runner)
    if (this.#closed) return
    this.slots.replace(runner, !view.booted)
    this.attribution.recordDeath(view, death)
    if (!view.terminating) this.attribution.attribute(view, death, false)
    const computing = new Set(view.terminating ? [] : view.computingJobs())
    for (const isolate of view.isolates.values()) isolate.build.isolates.delete(runner)
    for (const job of view.jobs.values()) {
      if (computing.has(job)) this.#end(job, { _tag: "RunnerLost", message: `the runner process died: ${why}` })
      else this.#retry(job, `the runner process died: ${why}`)
    }
    this.#requeueWaiting(view)
    this.slots.runnerIdle()
  }

  /** Runs a job again that did not cause the loss, if possible. */
  #retry(job: Job, why: string): void {
    this.#detach(job)
    if (job.stopReason !== undefined) {
      this.#end(job, stoppedOutcome(job.stopReason, job.invocation.timeoutMs))
      return
    }
    if (!job.isRepeatable) {
      this.#end(job, { _tag: "RunnerLost", message: why })
      return
    }
    job.retries++
    this.#dispatch(job)
  }

  #end(job: Job, outcome: Outcome): void {
    this.#detach(job)
    job.end(outcome)
  }

  #finish(job: Job, outcome: Outcome): void {
    this.#detach(job)
    job.finish(outcome)
  }

  /** Removes the job from its runner and dispatches the next waiting job. */
  #detach(job: Job): void {
    const { runner, isolate, build } = job
    job.runner = undefined
    job.isolate = undefined
    if (runner === undefined || isolate === undefined) return
    isolate.jobs.delete(job.id)
    const view = this.views.get(runner)
    view?.jobs.delete(job.id)
    if (view !== undefined) this.isolates.runEnded(view, isolate, performance.now())
    const next = build.takeWaiting()
    if (next !== undefined) this.#dispatch(next)
    if (view === undefined) return
    if (isolate.jobs.size === 0 && view.memory.hasWaiting) this.admit(view)
    if (view.jobs.size > 0) return
    if (view.terminating) runner.kill("it is no longer needed", view.retirement)
    else this.slots.runnerIdle()
  }
}
