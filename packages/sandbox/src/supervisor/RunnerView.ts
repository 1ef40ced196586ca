/** State of a runner in the pool: its isolates and jobs, and the jobs that are computing. */
import { InFlightMap } from "@weft/core/adapter"
import type { FromRunner } from "../protocol/FromRunner.ts"
import { ProtocolError } from "../protocol/Wire.ts"
import { type Build, IsolateHandle } from "./Build.ts"
import type { Job } from "./Job.ts"
import { MemoryBudget, type MemoryBudgetOptions } from "./MemoryBudget.ts"
import { MemoryTrend } from "./MemoryTrend.ts"
import type { RunnerDeath } from "./RunnerDeath.ts"
import type { RunnerProcess } from "./RunnerProcess.ts"

/** Maximum lost isolates whose builds are remembered. Messages about a lost isolate arrive within seconds. */
const lostMax = 1_000

export class RunnerView {
  readonly runner: RunnerProcess
  readonly jobs = new InFlightMap<number, Job>()
  readonly isolates = new Map<number, IsolateHandle>()
  readonly memory: MemoryBudget
  /** Isolates in a long entry, with the run that was computing when the runner detected it. */
  readonly busy = new Map<number, number>()
  /** Builds of lost isolates, for messages that arrive later. */
  readonly #lost = new Map<number, Build>()
  readonly memoryTrend = new MemoryTrend()
  booted = false
  /** Set before it is killed on purpose: then its builds are not suspects. */
  terminating = false
  /** Cause of its death if it retires. */
  retirement: RunnerDeath["cause"] = "retired"
  timer: NodeJS.Timeout | undefined

  constructor(runner: RunnerProcess, options: MemoryBudgetOptions) {
    this.runner = runner
    this.memory = new MemoryBudget(options)
  }

  /** Registers a new isolate of the build. */
  addIsolate(id: number, build: Build, now: number): IsolateHandle {
    const isolate = new IsolateHandle(id, build, now)
    build.isolates.set(this.runner, isolate)
    this.isolates.set(id, isolate)
    this.memory.reserve()
    return isolate
  }

  rememberLost(id: number, build: Build): void {
    const [oldest] = this.#lost.keys()
    if (this.#lost.size >= lostMax && oldest !== undefined) this.#lost.delete(oldest)
    this.#lost.set(id, build)
  }

  findLostBuild(id: number): Build | undefined {
    return this.#lost.get(id)
  }

  /** The least recently used idle isolate. One that keeps state is the last choice. */
  get leastRecentlyUsed(): IsolateHandle | undefined {
    let oldest: IsolateHandle | undefined
    for (const isolate of this.isolates.values()) {
      if (isolate.jobs.size === 0 && (oldest === undefined || isUsedBefore(isolate, oldest))) oldest = isolate
    }
    return oldest
  }

  /** Records the measured resident memory. */
  updateMemory(rssBytes: number, now: number): void {
    // Memory that the process needs to start is not that of a build.
    if (this.booted) this.memoryTrend.add(rssBytes, now)
    let loading = 0
    for (const { isLoaded } of this.isolates.values()) if (!isLoaded) loading++
    this.memory.update(rssBytes, loading)
  }

  /** Allowed once, before any guest code: other runners receive the code cache of this message. */
  markBooted(): void {
    if (this.booted) throw new ProtocolError("a second `ready` message")
    this.booted = true
  }

  /** Updates the state of an isolate from the runner's message. Ignores isolates that the pool did not create. */
  update(message: Extract<FromRunner, { readonly kind: "busy" | "idle" | "draining" | "loaded" }>): void {
    const isolate = this.isolates.get(message.isolate)
    if (isolate === undefined) return
    switch (message.kind) {
      case "busy":
        this.busy.set(isolate.id, message.run)
        return
      case "idle":
        this.busy.delete(isolate.id)
        return
      case "draining":
        isolate.draining = true
        return
      case "loaded":
        isolate.markLoaded()
        this.memoryTrend.restart()
        return
    }
  }

  /** Returns the jobs that have been computing for more than one entry should take. */
  computingJobs(): ReadonlyArray<Job> {
    const jobs: Array<Job> = []
    for (const run of this.busy.values()) {
      const job = this.jobs.get(run)
      if (job !== undefined) jobs.push(job)
    }
    return jobs
  }

  /** Returns the jobs that are not computing and have no reported end. */
  waitingJobs(): ReadonlyArray<Job> {
    const computing = new Set(this.computingJobs())
    return [...this.jobs.values()].filter((job) => !computing.has(job) && job.endMessage === undefined)
  }

  /** Returns the builds that have been computing for more than one entry should take. */
  computingBuilds(): ReadonlySet<Build> {
    const builds = new Set<Build>()
    for (const id of this.busy.keys()) {
      const isolate = this.isolates.get(id)
      if (isolate !== undefined) builds.add(isolate.build)
    }
    return builds
  }

  /** Returns the builds with runs in this runner. */
  activeBuilds(): ReadonlySet<Build> {
    return new Set(this.jobs.values().map(({ build }) => build))
  }

  /** Removes an isolate that has ended. The caller handles its jobs. */
  removeIsolate(id: number): IsolateHandle | undefined {
    const isolate = this.isolates.get(id)
    if (isolate === undefined) return undefined
    this.isolates.delete(id)
    this.busy.delete(id)
    this.memory.release()
    if (isolate.build.isolates.get(this.runner) === isolate) isolate.build.isolates.delete(this.runner)
    return isolate
  }
}

const isUsedBefore = (one: IsolateHandle, other: IsolateHandle): boolean =>
  one.build.keepsState === other.build.keepsState ? one.lastUsedAt < other.lastUsedAt : other.build.keepsState
