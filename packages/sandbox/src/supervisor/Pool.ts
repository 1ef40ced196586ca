/**
 * The supervisor: sends jobs to runners, hears what became of them, and sees to it that each ends exactly once.
 *
 * Plain classes and callbacks, because this is the hot path; Effect begins in `Isolated.ts`.
 */
import type { Outcome } from "@weft/core"
import type { FromRunner } from "../protocol/FromRunner.ts"
import type { StopReason } from "../protocol/ToRunner.ts"
import type { Build, HostedIsolate } from "./Build.ts"
import { Isolates } from "./Isolates.ts"
import type { Job } from "./Job.ts"
import { JobClock } from "./JobClock.ts"
import { Lanes } from "./Lanes.ts"
import type { PoolOptions } from "./PoolOptions.ts"
import { type RunnerListener, RunnerProcess } from "./RunnerProcess.ts"
import { RunnerView } from "./RunnerView.ts"
import { Strikes } from "./Strikes.ts"
import { type Ending, guiltyOutcome, outcomeOf, requireShort, stoppedOutcome, unloadedOutcome } from "./verdicts.ts"

/** How long a stopped run may take to say so; then it is not listened to any more. */
const stopAnswerMs = 400
/** What others may still finish in a runner with a thread that cannot be stopped. */
const sickGraceMs = 1000
const repeatsMax = 2

export class Pool {
  readonly strikes: Strikes
  readonly views = new Map<RunnerProcess, RunnerView>()
  readonly isolates: Isolates
  readonly lanes: Lanes
  readonly #clock = new JobClock((job) => this.stop(job, "timeout"))
  readonly #options: PoolOptions
  #guestCache: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.strikes = new Strikes(options.strikes)
    const { callsPerIsolate, limits } = options
    this.isolates = new Isolates({ callsPerIsolate, heapBytes: limits.heapBytes })
    this.lanes = new Lanes(options.runners, {
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

  /** Loads a build where its first job will come, unless it is under suspicion; `done` is not called when that fails. */
  warm(build: Build, done: () => void): void {
    const load = (runner: RunnerProcess): void => {
      const view = this.views.get(runner)
      const isKnown = view === undefined || build.isolates.has(runner)
      const isolate = isKnown ? undefined : this.isolates.make(view, build, performance.now())
      if (isolate === undefined) done()
      else isolate.onLoaded = done
    }
    if (this.strikes.custody(build.buildId, performance.now()) === "shared") {
      this.lanes.use("shared", build.key, load, done)
    } else {
      done()
    }
  }

  /** Ends a job from outside: it ends when the guest says that it stopped, and within 400 ms whatever it does. */
  stop(job: Job, reason: StopReason): void {
    if (job.ended || job.stopping !== undefined) return
    job.stopping = reason
    clearTimeout(job.timer)
    job.interruptCalls()
    const outcome = stoppedOutcome(reason, job.invocation.timeoutMs)
    const { runner, isolate } = job
    if (runner === undefined || isolate === undefined || runner.state === "dead" || job.closing) {
      this.#end(job, outcome)
      return
    }
    runner.send({ kind: "stop", isolate: isolate.id, run: job.id, reason })
    job.timer = setTimeout(() => this.#end(job, outcome), stopAnswerMs)
  }

  /** The runner takes no more work. It is killed when its jobs are done, and after `graceMs` at the latest. */
  retire(view: RunnerView, why: string, graceMs: number): void {
    const { runner } = view
    if (runner.state === "dead" || runner.state === "retiring") return
    runner.state = "retiring"
    this.lanes.replace(runner, false)
    view.doomed = true
    if (view.jobs.size === 0) runner.kill(why)
    else view.timer = setTimeout(() => runner.kill(why), graceMs)
    this.#sendAway(view)
  }

  /** Gives what room there is in the runner to the builds that wait for it, in turn. */
  admit(view: RunnerView): void {
    for (;;) {
      const build = this.isolates.admitted(view, performance.now())
      if (build === undefined) return
      this.#resume(build)
    }
  }

  /** Kills the runner at once. Those computing in it end with `outcome`, the others are run again. */
  condemn(view: RunnerView, why: string, outcome: Outcome): void {
    view.blame(this.strikes)
    for (const job of view.computing()) this.#end(job, outcome)
    view.doomed = true
    this.#options.report(`a runner process had to be killed: ${why}`)
    view.runner.kill(why)
  }

  /** A runner that boots, outside of the pool: for whoever has work of another kind, and kills it afterwards. */
  lend(frameBytesMax: number, listener: RunnerListener): RunnerProcess {
    const runner = new RunnerProcess(frameBytesMax, listener, this.#options.runnerProgram)
    runner.send({
      kind: "boot",
      limits: JSON.stringify(this.#options.runnerLimits),
      guest: this.#options.guestScript,
      cache: this.#guestCache
    })
    return runner
  }

  close(): void {
    this.#closed = true
    this.lanes.close()
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
      died: (why) => this.#died(view, why)
    }
    const runner = this.lend(frameBytesMax, listener)
    const view = new RunnerView(runner, this.#options)
    this.views.set(runner, view)
    return runner
  }

  #dispatch(job: Job): void {
    if (job.ended) return
    const { buildId, key } = job.build
    const custody = this.strikes.custody(buildId, performance.now())
    if (custody === "quarantined") {
      const message = `build ${buildId} ended its runner process ${this.#options.strikes} times: deploy it anew to run it`
      this.#end(job, { _tag: "Quarantined", message })
      return
    }
    this.lanes.use(
      custody,
      key,
      (runner) => this.#place(job, runner),
      (reason) => job.refuse(reason)
    )
  }

  #place(job: Job, runner: RunnerProcess): void {
    const view = this.views.get(runner)
    if (job.ended || view === undefined) return
    const { build } = job
    const now = performance.now()
    const isolate = this.isolates.for(view, build, now)
    if (isolate === undefined) view.room.want(build)
    if (isolate === undefined || isolate.jobs.size >= this.#options.limits.concurrentRuns) {
      if (build.waiting.length < this.#options.waitingPerBuild) build.waiting.push(job)
      else job.refuse(`${this.#options.waitingPerBuild} runs of build ${build.buildId} wait already`)
      return
    }
    build.lastUsedAt = now
    isolate.lastUsedAt = now
    isolate.calls++
    isolate.jobs.set(job.id, job)
    view.jobs.set(job.id, job)
    job.runner = runner
    job.isolate = isolate
    runner.whenTaken(() => this.#invoke(job, isolate, runner))
  }

  #invoke(job: Job, isolate: HostedIsolate, runner: RunnerProcess): void {
    // Meanwhile it may have been stopped, or have gone elsewhere.
    if (job.ended || job.stopping !== undefined || job.isolate !== isolate) return
    const { fn, trigger, svc, body = null } = job.invocation
    runner.send({ kind: "invoke", isolate: isolate.id, run: job.id, trigger, fn: `${fn.ns}/${fn.var}`, svc, body })
  }

  /** Begins jobs of the build that wait, as many as there are places for. */
  #resume(build: Build): void {
    for (let left = Math.min(build.waiting.length, this.#options.limits.concurrentRuns); left > 0; left--) {
      const job = build.nextJob()
      if (job === undefined) return
      this.#dispatch(job)
    }
  }

  /** Who waits for room in a runner that takes no more work goes elsewhere. */
  #sendAway(view: RunnerView): void {
    for (const build of view.room.waiting) {
      view.room.leave(build)
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
        view.boot()
        this.lanes.booted()
        if (message.cache.length > 0 && this.#guestCache.length === 0) this.#guestCache = message.cache
        return
      case "call":
        this.#call(view, message)
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
      case "begun": {
        const job = view.jobs.get(message.run)
        if (job !== undefined) this.#clock.begun(job, message.ms)
        return
      }
      case "sick":
        this.#sick(view, message.isolate)
        return
      case "busy":
      case "calm":
      case "worn":
      case "loaded":
        view.note(message)
        return
      case "beat":
        return
      default:
        this.#ending(view, message)
        return
    }
  }

  #ending(view: RunnerView, message: Ending): void {
    const job = view.jobs.get(message.run)
    if (job === undefined) return
    job.used(message.cpuMs, message.heapBytes)
    if (job.isolate !== undefined) job.isolate.heapBytes = message.heapBytes
    if (job.stopping !== undefined) {
      this.#end(job, stoppedOutcome(job.stopping, job.invocation.timeoutMs))
      return
    }
    if (message.kind === "stopped") {
      this.#end(job, { _tag: "Cancelled" })
      return
    }
    const outcome = outcomeOf(message, this.#options.limits)
    if (outcome._tag !== "Threw") {
      this.strikes.acquit(job.build.buildId)
      this.#finish(job, outcome)
      return
    }
    this.#finish(job, { ...outcome, stack: this.#options.mapStack(job.build, outcome.stack) })
  }

  #call(view: RunnerView, message: Extract<FromRunner, { readonly kind: "call" }>): void {
    const job = view.jobs.get(message.run)
    const isolate = job?.isolate
    if (job === undefined || isolate === undefined || job.stopping !== undefined) return
    job.call(message, ({ ok, text, detail }) => {
      view.runner.send({ kind: "answer", isolate: isolate.id, run: job.id, call: message.call, ok, text, detail })
    })
  }

  #loadFailed(view: RunnerView, message: Extract<FromRunner, { readonly kind: "loadFailed" }>): void {
    const isolate = view.forget(message.isolate)
    if (isolate === undefined) return
    requireShort(message.name, message.message, message.stack)
    const { limits, mapStack } = this.#options
    const outcome = unloadedOutcome({ ...message, stack: mapStack(isolate.build, message.stack) }, limits)
    for (const job of isolate.jobs.values()) this.#end(job, outcome)
  }

  /** The runner ended an isolate. Who was computing has had it; the others are run again where nobody can notice. */
  #lost(view: RunnerView, message: Extract<FromRunner, { readonly kind: "lost" }>): void {
    const { cause, guilty } = message
    const isolate = view.forget(message.isolate)
    if (isolate === undefined) return
    const { build } = isolate
    view.rememberLost(message.isolate, build.buildId)
    if (cause === "cpu" || cause === "background") this.strikes.overrun(build.buildId, performance.now())
    for (const job of isolate.jobs.values()) {
      if (job.id === guilty) job.used(message.cpuMs, message.heapBytes)
      if (job.id === guilty && job.stopping === undefined) {
        this.#end(job, guiltyOutcome(cause, this.#options.limits))
      } else {
        this.#repeat(job, `another run of build ${build.buildId} ended the isolate (${cause})`)
      }
    }
  }

  #sick(view: RunnerView, id: number): void {
    // One accident is one strike, however often it is told.
    const build = view.runner.state === "retiring" ? undefined : view.buildOfLost(id)
    if (build !== undefined) {
      this.strikes.strike(build)
      this.#options.report(`build ${build} holds a thread that cannot be stopped`)
    }
    this.retire(view, "a thread in it cannot be stopped", sickGraceMs)
  }

  #died(view: RunnerView, why: string): void {
    const { runner } = view
    clearTimeout(view.timer)
    this.views.delete(runner)
    if (this.#closed) return
    this.lanes.replace(runner, !view.booted)
    if (!view.doomed) {
      this.#options.report(`a runner process died: ${why}. ${runner.diagnosis}`)
      view.blame(this.strikes)
    }
    const guilty = new Set(view.doomed ? [] : view.computing())
    for (const isolate of view.isolates.values()) isolate.build.isolates.delete(runner)
    for (const job of view.jobs.values()) {
      if (guilty.has(job)) this.#end(job, { _tag: "RunnerLost", message: `the runner process died: ${why}` })
      else this.#repeat(job, `the runner process died: ${why}`)
    }
    this.#sendAway(view)
    this.lanes.vacated()
  }

  /** Runs an innocent job again, unless that would show, or has been tried too often. */
  #repeat(job: Job, why: string): void {
    this.#detach(job)
    if (job.stopping !== undefined) {
      this.#end(job, stoppedOutcome(job.stopping, job.invocation.timeoutMs))
      return
    }
    if (job.touched || job.repeats >= repeatsMax) {
      this.#end(job, { _tag: "RunnerLost", message: why })
      return
    }
    job.repeats++
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

  /** The job leaves its runner; what waited for its place moves up. */
  #detach(job: Job): void {
    const { runner, isolate, build } = job
    job.runner = undefined
    job.isolate = undefined
    if (runner === undefined || isolate === undefined) return
    isolate.jobs.delete(job.id)
    const view = this.views.get(runner)
    view?.jobs.delete(job.id)
    if (view !== undefined) this.isolates.left(view, isolate, performance.now())
    const next = build.nextJob()
    if (next !== undefined) this.#dispatch(next)
    if (view === undefined) return
    if (isolate.jobs.size === 0 && view.room.isWanted) this.admit(view)
    if (view.jobs.size > 0) return
    if (view.doomed) runner.kill("it is no longer needed")
    else this.lanes.vacated()
  }
}
