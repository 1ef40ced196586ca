/** A build that is in memory, and its isolates in runners. */
import { type BuildId, Roster } from "@weft/core"
import type { Job } from "./Job.ts"
import type { RunnerProcess } from "./RunnerProcess.ts"

export interface Bundle {
  readonly script: string
  readonly cache: Uint8Array<ArrayBuffer>
  readonly sourceMap: string
}

export class Build {
  readonly key: string
  readonly buildId: BuildId
  readonly bundle: Bundle
  /** At most one isolate that takes new runs in each runner. */
  readonly isolates = new Map<RunnerProcess, HostedIsolate>()
  /** Jobs over the limit of concurrent runs, or without room for an isolate, oldest first. */
  readonly waiting: Array<Job> = []
  /** Of the host calls of all its runs that are not answered yet. */
  callBytes = 0
  lastUsedAt = 0

  constructor(key: string, buildId: BuildId, bundle: Bundle) {
    this.key = key
    this.buildId = buildId
    this.bundle = bundle
  }

  get bytes(): number {
    return this.bundle.script.length + this.bundle.cache.length + this.bundle.sourceMap.length
  }

  /** The oldest job that waits, and does not wait any more. */
  nextJob(): Job | undefined {
    for (;;) {
      const job = this.waiting.shift()
      if (job?.ended !== true) return job
    }
  }

  /** Whether a job waits. */
  get isAwaited(): boolean {
    return this.waiting.some(({ ended }) => !ended)
  }

  get idle(): boolean {
    return this.waiting.length === 0 && [...this.isolates.values()].every((isolate) => isolate.jobs.size === 0)
  }
}

export interface Wear {
  /** Invocations after which an isolate is replaced. */
  readonly callsPerIsolate: number
  readonly heapBytes: number
}

/** An isolate is replaced when so much of its heap is full, and when it is so old. */
const heapShareMax = 0.7
const ageMaxMs = 60 * 60 * 1000

/** One isolate in one runner. */
export class HostedIsolate {
  readonly id: number
  readonly build: Build
  readonly jobs = new Roster<number, Job>()
  readonly bornAt: number
  lastUsedAt: number
  /** Since when it has had its place without a break for others. */
  turnAt: number
  calls = 0
  heapBytes = 0
  isLoaded = false
  /** For who waits until it has loaded. */
  onLoaded: (() => void) | undefined
  /** The runner asked for a fresh one in its place. */
  worn = false

  constructor(id: number, build: Build, now: number) {
    this.id = id
    this.build = build
    this.bornAt = now
    this.lastUsedAt = now
    this.turnAt = now
  }

  loaded(): void {
    this.isLoaded = true
    this.onLoaded?.()
  }

  /** Whether another one is to take its place. */
  isWorn(now: number, { callsPerIsolate, heapBytes }: Wear): boolean {
    return (
      this.worn ||
      this.calls >= callsPerIsolate ||
      this.heapBytes > heapBytes * heapShareMax ||
      now - this.bornAt > ageMaxMs
    )
  }
}
