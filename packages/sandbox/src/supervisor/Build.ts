/** A build in memory, and its isolates in runners. */
import type { EnvId } from "@weft/core"
import { type BuildId, InFlightMap } from "@weft/core/adapter"
import { fnv1a } from "./fnv1a.ts"
import type { Job } from "./Job.ts"
import type { RunnerProcess } from "./RunnerProcess.ts"

export interface Bundle {
  readonly script: string
  readonly cache: Uint8Array<ArrayBuffer>
  readonly sourceMap: string
}

/** Settings of builds that were made from source text. */
export interface BuildSettings {
  /** True if its isolate ends after one run. */
  readonly isSingleUse?: boolean
  /** True if the state of its isolate must last. As in `BundleRef`. */
  readonly keepsState?: boolean
  /** As in `BundleRef`. */
  readonly strikeId?: BuildId
}

export class Build {
  readonly key: string
  readonly envId: EnvId
  /** Number of its environment in runners, which need not know ids. */
  readonly owner: number
  readonly buildId: BuildId
  readonly bundle: Bundle
  readonly isSingleUse: boolean
  readonly keepsState: boolean
  /** Id under which its incidents count. */
  readonly strikeId: BuildId
  /** The isolate that receives new runs, per runner. */
  readonly isolates = new Map<RunnerProcess, IsolateHandle>()
  /** Jobs above the limit of concurrent runs, or without memory for an isolate, oldest first. */
  readonly waiting: Array<Job> = []
  /** Bytes of all pending host calls of its runs. */
  callBytes = 0
  /** True once a run of a build that keeps state has ended. From then on, the state is lost with its isolate. */
  hasState = false
  /** Characters of the answers to host calls that wait until a runner has read earlier ones. */
  answerLength = 0
  lastUsedAt = 0

  constructor(envId: EnvId, buildId: BuildId, bundle: Bundle, settings: BuildSettings = {}) {
    this.key = buildKey(envId, buildId)
    this.envId = envId
    this.owner = fnv1a(envId)
    this.buildId = buildId
    this.bundle = bundle
    this.isSingleUse = settings.isSingleUse ?? false
    this.keepsState = settings.keepsState ?? false
    this.strikeId = settings.strikeId ?? buildId
  }

  get bytes(): number {
    return this.bundle.script.length + this.bundle.cache.length + this.bundle.sourceMap.length
  }

  /** The runner with the state of the build, if it keeps one. */
  get home(): RunnerProcess | undefined {
    return this.keepsState ? this.isolates.keys().next().value : undefined
  }

  /** Removes and returns the oldest waiting job. */
  takeWaiting(): Job | undefined {
    for (;;) {
      const job = this.waiting.shift()
      if (job?.ended !== true) return job
    }
  }

  /** True if a job waits. */
  get hasWaiting(): boolean {
    return this.waiting.some(({ ended }) => !ended)
  }

  get idle(): boolean {
    return this.waiting.length === 0 && [...this.isolates.values()].every((isolate) => isolate.jobs.size === 0)
  }
}

/** Returns the key of a build: an isolate belongs to one environment and build. */
export const buildKey = (envId: EnvId, buildId: BuildId): string => `${envId}/${buildId}`

export interface ReplacementLimits {
  /** Invocations after which an isolate is replaced. */
  readonly callsPerIsolate: number
  readonly heapBytes: number
}

/** An isolate is replaced above this share of its heap, and above this age. */
const heapShareMax = 0.7
const ageMaxMs = 60 * 60 * 1000

/** One isolate in one runner, as the supervisor sees it. */
export class IsolateHandle {
  readonly id: number
  readonly build: Build
  readonly jobs = new InFlightMap<number, Job>()
  readonly createdAt: number
  lastUsedAt: number
  /** Start of its current quantum: since then it has occupied its place without a break for other builds. */
  quantumStartedAt: number
  calls = 0
  heapBytes = 0
  isLoaded = false
  /** Called once, when the bundle is loaded. */
  onLoaded: (() => void) | undefined
  /** True if the runner requested a new isolate in its place. */
  draining = false

  constructor(id: number, build: Build, now: number) {
    this.id = id
    this.build = build
    this.createdAt = now
    this.lastUsedAt = now
    this.quantumStartedAt = now
  }

  markLoaded(): void {
    this.isLoaded = true
    this.onLoaded?.()
  }

  /** True if new runs need another isolate. */
  shouldReplace(now: number, { callsPerIsolate, heapBytes }: ReplacementLimits): boolean {
    if (this.build.keepsState) return false
    return (
      this.draining ||
      this.build.isSingleUse ||
      this.calls >= callsPerIsolate ||
      this.heapBytes > heapBytes * heapShareMax ||
      now - this.createdAt > ageMaxMs
    )
  }
}
