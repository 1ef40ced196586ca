/**
 * Orders the computations of `crypto.subtle` in one runner.
 *
 * They run on the threads of Node: at most two at once, and long ones one at a time. The isolates take turns, and each has
 * one computation in progress. So an isolate with many of them does not delay its neighbours.
 */
import { processorMs } from "../ProcessorTime.ts"

/** Maximum computations in progress. */
const slots = 2
const watchMs = 250

export interface Computation {
  /** True if it may take longer than a few milliseconds. */
  readonly isLong: boolean
  readonly start: () => Promise<void>
  /** Called once if the computation exceeds the time limit. It cannot be stopped. */
  readonly overran: () => void
}

interface Progress {
  readonly computation: Computation
  readonly startedAt: number
  readonly processorStart: number
  isOver: boolean
}

export class CryptoQueue {
  readonly #limitMs: number
  /** Waiting computations by their isolates. The isolate whose turn is next is the first. */
  readonly #waiting = new Map<object, Array<Computation>>()
  readonly #progress = new Map<object, Progress>()
  #watching: NodeJS.Timeout | undefined

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  add(owner: object, computation: Computation): void {
    const waiting = this.#waiting.get(owner)
    if (waiting === undefined) this.#waiting.set(owner, [computation])
    else waiting.push(computation)
    this.#startNext()
  }

  /** Removes the waiting computations of an isolate. */
  remove(owner: object): void {
    this.#waiting.delete(owner)
  }

  #startNext(): void {
    for (const [owner, waiting] of this.#waiting) {
      if (this.#progress.size >= slots) return
      const next = waiting[0]
      if (next === undefined || this.#progress.has(owner) || (next.isLong && this.#isLongRunning)) continue
      this.#waiting.delete(owner)
      waiting.shift()
      if (waiting.length > 0) this.#waiting.set(owner, waiting)
      this.#start(owner, next)
    }
  }

  get #isLongRunning(): boolean {
    return [...this.#progress.values()].some(({ computation }) => computation.isLong)
  }

  #start(owner: object, computation: Computation): void {
    const progress = { computation, startedAt: performance.now(), processorStart: processorMs(), isOver: false }
    this.#progress.set(owner, progress)
    this.#watching ??= setInterval(() => this.#watch(), watchMs)
    void computation.start().finally(() => {
      // The event loop serves all isolates before the next computation starts.
      setImmediate(() => {
        this.#progress.delete(owner)
        this.#startNext()
      })
    })
  }

  #watch(): void {
    if (this.#progress.size === 0) {
      clearInterval(this.#watching)
      this.#watching = undefined
    }
    const now = performance.now()
    for (const progress of this.#progress.values()) {
      if (progress.isOver || now - progress.startedAt < this.#limitMs) continue
      // On a busy machine the clock alone proves nothing.
      if (processorMs() - progress.processorStart < this.#limitMs) continue
      progress.isOver = true
      progress.computation.overran()
    }
  }
}
