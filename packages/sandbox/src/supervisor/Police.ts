/** Watches the runners from outside: their pulse, their memory, and what nobody uses any more. */
import type { Pool } from "./Pool.ts"
import type { RunnerView } from "./RunnerView.ts"

export interface PoliceOptions {
  /** Without a beat for so long a runner is killed. */
  readonly heartbeatMs: number
  /** Resident memory at which a runner is killed at once. */
  readonly rssBytes: number
  /** Isolates that nobody used for so long are ended. */
  readonly idleMs: number
  readonly heapBytes: number
}

const tickMs = 50
/** Ticks between two rounds of looking for idle isolates. */
const idleEvery = 20
/** A beat is late, so that the runner is looked at more closely. */
const doubtMs = 200
/** A process that starts on a busy machine may take its time. */
const bootMs = 15_000
/** From here on a runner sheds idle isolates, and if that does not help, is replaced in peace. */
const fullShare = 0.7
const retireAfterMs = 10_000
const retireGraceMs = 60_000
/** Runners for one build alone, or for suspects, end when unused for so long. */
const soloIdleMs = 30_000

/** What was known of a runner when its beat was late. */
interface Doubt {
  readonly beatAt: number
  readonly starvedMs: number
}

export class Police {
  readonly #pool: Pool
  readonly #options: PoliceOptions
  readonly #fullSince = new WeakMap<RunnerView, number>()
  readonly #doubts = new WeakMap<RunnerView, Doubt>()
  readonly #clock: NodeJS.Timeout
  #ticks = 0
  #tickedAt = performance.now()

  constructor(pool: Pool, options: PoliceOptions) {
    this.#pool = pool
    this.#options = options
    this.#clock = setInterval(() => this.#tick(), tickMs)
  }

  close(): void {
    clearInterval(this.#clock)
  }

  #tick(): void {
    const now = performance.now()
    this.#forgive(now - this.#tickedAt - tickMs)
    this.#tickedAt = now
    const idleRound = ++this.#ticks % idleEvery === 0
    for (const view of [...this.#pool.views.values()]) {
      if (!this.#checkPulse(view, now) || !this.#checkMemory(view, now)) continue
      if (idleRound) this.#dropIdle(view, now - this.#options.idleMs)
    }
    if (!idleRound) return
    for (const runner of this.#pool.lanes.expire(now - soloIdleMs)) {
      const view = this.#pool.views.get(runner)
      if (view !== undefined) this.#pool.retire(view, "nobody uses it", retireGraceMs)
    }
  }

  /** While this process was busy itself it heard nobody: that is not the runners' silence. */
  #forgive(lateMs: number): void {
    if (lateMs < tickMs) return
    for (const { runner } of this.#pool.views.values()) runner.beatAt += lateMs
  }

  /** Whether the runner is alive; a silent one is killed. */
  #checkPulse(view: RunnerView, now: number): boolean {
    const limitMs = view.booted ? this.#options.heartbeatMs : bootMs
    const silentMs = now - view.runner.beatAt
    if (silentMs <= Math.min(doubtMs, limitMs)) return true
    if (silentMs - this.#starvedMs(view) <= limitMs) return true
    this.#pool.condemn(view, `it was silent for ${Math.round(silentMs)} ms`, {
      _tag: "RunnerLost",
      message: "the runner process hung while this run was computing"
    })
    return false
  }

  /** How long a silent runner wanted the processor meanwhile and did not get it. */
  #starvedMs(view: RunnerView): number {
    const { beatAt } = view.runner
    const starvedMs = view.runner.starvedMs()
    const doubt = this.#doubts.get(view)
    if (doubt?.beatAt === beatAt) return starvedMs - doubt.starvedMs
    this.#doubts.set(view, { beatAt, starvedMs })
    return 0
  }

  /** Whether the runner may stay; one over the limit is killed, one near it is thinned out and then replaced. */
  #checkMemory(view: RunnerView, now: number): boolean {
    const rss = view.runner.rssBytes()
    const { rssBytes, heapBytes } = this.#options
    view.measured(rss)
    if (view.room.isWanted) this.#pool.admit(view)
    if (rss > rssBytes) {
      this.#pool.condemn(view, `it held ${Math.round(rss / 2 ** 20)} MiB`, {
        _tag: "OutOfMemory",
        limitBytes: heapBytes
      })
      return false
    }
    if (rss <= rssBytes * fullShare) {
      this.#fullSince.delete(view)
      return true
    }
    const since = this.#fullSince.get(view)
    if (since === undefined) {
      this.#fullSince.set(view, now)
      this.#dropIdle(view, now)
    } else if (now - since > retireAfterMs) {
      this.#pool.retire(view, "its memory is full", retireGraceMs)
    }
    return true
  }

  #dropIdle(view: RunnerView, before: number): void {
    for (const isolate of [...view.isolates.values()]) {
      if (isolate.jobs.size === 0 && isolate.lastUsedAt < before) this.#pool.isolates.drop(view, isolate)
    }
  }
}
