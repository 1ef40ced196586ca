/** Supervises the runners from outside: it checks heartbeats and memory, and disposes idle isolates and runners. */
import type { Pool } from "./Pool.ts"
import type { RunnerView } from "./RunnerView.ts"

export interface WatchdogOptions {
  /** A runner without a heartbeat for this long is killed, in milliseconds. */
  readonly heartbeatMs: number
  /** Resident memory at which a runner is killed at once. */
  readonly rssBytes: number
  /** Idle time after which an isolate is disposed, in milliseconds. */
  readonly idleMs: number
  readonly heapBytes: number
}

const tickMs = 50
/** Ticks between two searches for idle isolates. */
const idleRoundTicks = 20
/** Silence after which the runner is examined more closely. */
const lateHeartbeatMs = 200
/** Maximum silence of a runner that boots: on a busy machine that is slow. */
const bootMs = 15_000
/** Share of `rssBytes` above which a runner disposes its idle isolates. If it stays above, it is replaced gracefully. */
const drainShare = 0.7
const retireAfterMs = 10_000
const retireGraceMs = 60_000
/** Idle time after which a runner of a single build or of the suspect pool ends. */
const soloIdleMs = 30_000

/** Share of the time of its silence that a runner must have computed to be blamed for it. */
const computedShareMin = 0.5

/** State of a runner when its heartbeat was first found late. */
interface LateHeartbeat {
  readonly heartbeatAt: number
  readonly foundAt: number
  readonly starvedMs: number
  /** Null on systems without that statistic. */
  readonly processorMs: number | null
}

export class Watchdog {
  readonly #pool: Pool
  readonly #options: WatchdogOptions
  readonly #fullSince = new WeakMap<RunnerView, number>()
  readonly #lateHeartbeats = new WeakMap<RunnerView, LateHeartbeat>()
  readonly #timer: NodeJS.Timeout
  #ticks = 0
  #tickedAt = performance.now()

  constructor(pool: Pool, options: WatchdogOptions) {
    this.#pool = pool
    this.#options = options
    this.#timer = setInterval(() => this.#tick(), tickMs)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    const now = performance.now()
    this.#creditOwnDelay(now - this.#tickedAt - tickMs)
    this.#tickedAt = now
    const idleRound = ++this.#ticks % idleRoundTicks === 0
    for (const view of [...this.#pool.views.values()]) {
      if (!this.#checkHeartbeat(view, now) || !this.#checkMemory(view, now)) continue
      if (idleRound) this.#disposeIdle(view, now - this.#options.idleMs, false)
    }
    if (!idleRound) return
    for (const runner of this.#pool.slots.expire(now - soloIdleMs)) {
      const view = this.#pool.views.get(runner)
      if (view !== undefined) this.#pool.retire(view, "it is idle", retireGraceMs)
    }
  }

  /** Extends the deadlines by the delay of this process itself: while it was busy, it received no heartbeats. */
  #creditOwnDelay(lateMs: number): void {
    if (lateMs < tickMs) return
    for (const { runner } of this.#pool.views.values()) runner.heartbeatAt += lateMs
  }

  /** True if the runner is alive; kills a silent one. */
  #checkHeartbeat(view: RunnerView, now: number): boolean {
    const limitMs = view.booted ? this.#options.heartbeatMs : bootMs
    const silentMs = now - view.runner.heartbeatAt
    if (silentMs <= Math.min(lateHeartbeatMs, limitMs)) return true
    const late = this.#lateHeartbeat(view, now)
    const starvedMs = view.runner.starvedMs() - late.starvedMs
    if (silentMs - starvedMs <= limitMs) return true
    this.#pool.terminate(view, {
      cause: "silent",
      why: `it sent no heartbeat for ${Math.round(silentMs)} ms`,
      outcome: { _tag: "RunnerLost", message: "the runner process hung while this run was computing" },
      wasIdle: !hasComputed(view, late, now - late.foundAt - starvedMs)
    })
    return false
  }

  /** Returns the state of a silent runner when its silence was noticed. */
  #lateHeartbeat(view: RunnerView, now: number): LateHeartbeat {
    const { heartbeatAt } = view.runner
    const known = this.#lateHeartbeats.get(view)
    if (known?.heartbeatAt === heartbeatAt) return known
    const { runner } = view
    const late = { heartbeatAt, foundAt: now, starvedMs: runner.starvedMs(), processorMs: runner.processorMs() }
    this.#lateHeartbeats.set(view, late)
    return late
  }

  /** True if the runner may stay. Kills it above the limit; near the limit disposes idle isolates, then replaces it. */
  #checkMemory(view: RunnerView, now: number): boolean {
    const rss = view.runner.rssBytes()
    const { rssBytes, heapBytes } = this.#options
    view.updateMemory(rss, now)
    if (view.memory.hasWaiting) this.#pool.admit(view)
    if (rss > rssBytes) {
      this.#pool.terminate(view, {
        cause: "memory",
        why: `it used ${Math.round(rss / 2 ** 20)} MiB of memory`,
        outcome: { _tag: "OutOfMemory", limitBytes: heapBytes },
        wasIdle: false
      })
      return false
    }
    if (rss <= rssBytes * drainShare) {
      this.#fullSince.delete(view)
      return true
    }
    const since = this.#fullSince.get(view)
    if (since === undefined) {
      this.#fullSince.set(view, now)
      this.#disposeIdle(view, now, true)
    } else if (now - since > retireAfterMs) {
      this.#pool.retire(view, "its memory is nearly full", retireGraceMs)
    }
    return true
  }

  /** Disposes isolates that were not used since `before`. Those that keep state only if memory is short. */
  #disposeIdle(view: RunnerView, before: number, isShort: boolean): void {
    for (const isolate of [...view.isolates.values()]) {
      if (isolate.build.keepsState && !isShort) continue
      if (isolate.jobs.size === 0 && isolate.lastUsedAt < before) this.#pool.isolates.dispose(view, isolate)
    }
  }
}

/**
 * True if the runner used a processor during its silence of `ms` milliseconds, or if that is unknown. A runner that was
 * suspended, or that waits for memory from the system, does not.
 */
const hasComputed = ({ runner }: RunnerView, late: LateHeartbeat, ms: number): boolean => {
  const processorMs = runner.processorMs()
  return processorMs === null || late.processorMs === null || processorMs - late.processorMs >= ms * computedShareMin
}
