/** A build that is in memory, and its isolates in runners. */
import type { BuildId } from "@weft/core"
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
  /** Jobs over the limit of concurrent runs, oldest first. */
  readonly waiting: Array<Job> = []
  lastUsedAt = 0

  constructor(key: string, buildId: BuildId, bundle: Bundle) {
    this.key = key
    this.buildId = buildId
    this.bundle = bundle
  }

  get bytes(): number {
    return this.bundle.script.length + this.bundle.cache.length + this.bundle.sourceMap.length
  }

  get idle(): boolean {
    return this.waiting.length === 0 && [...this.isolates.values()].every((isolate) => isolate.jobs.size === 0)
  }
}

/** One isolate in one runner. */
export class HostedIsolate {
  readonly id: number
  readonly build: Build
  readonly jobs = new Set<Job>()
  readonly bornAt: number
  lastUsedAt: number
  calls = 0
  heapBytes = 0
  /** For who waits until it has loaded. */
  onLoaded: (() => void) | undefined
  /** The runner asked for a fresh one in its place. */
  worn = false

  constructor(id: number, build: Build, now: number) {
    this.id = id
    this.build = build
    this.bornAt = now
    this.lastUsedAt = now
  }
}
