/** The queue of one key, with its balance of time. */
import type { WorkKind } from "./WorkKind.ts"

/** Work that waits for its turn. */
export interface QueuedWork {
  readonly kind: WorkKind
  readonly bytes: number
  readonly run: () => void
  /** Time of the event loop's clock when it was queued, in milliseconds. */
  readonly queuedAt: number
}

/** Taken entries at the head of a queue before their array is shortened. */
const takenMax = 512

export class Lane {
  readonly key: string
  readonly weight: number
  /** Milliseconds that the key may still use in this round. Negative if its last work took longer. */
  balanceMs = 0
  /** Turn of the scheduler in which the balance was last valid. */
  turn = 0
  /** Period without contention in which the balance was set. A later one cancels debt. */
  period = 0
  /** True while the lane is at the head of the ring and has received its quantum. */
  isCredited = false
  /** Time until which the key counts as one with long work; 0 without. See `Rest`. */
  longUntil = 0
  /** Milliseconds that the key used since the last report. */
  reportedMs = 0
  #queue: Array<QueuedWork> = []
  #taken = 0
  #bytes = 0

  constructor(key: string, weight: number) {
    this.key = key
    this.weight = weight
  }

  get size(): number {
    return this.#queue.length - this.#taken
  }

  /** Bytes that the queued work holds in memory. */
  get bytes(): number {
    return this.#bytes
  }

  push(work: QueuedWork): void {
    this.#queue.push(work)
    this.#bytes += work.bytes
  }

  /** Removes and returns the oldest work. */
  shift(): QueuedWork | undefined {
    const work = this.#queue[this.#taken]
    if (work === undefined) return undefined
    this.#taken++
    this.#bytes -= work.bytes
    if (this.#taken === this.#queue.length) {
      this.#queue = []
      this.#taken = 0
    } else if (this.#taken > takenMax && this.#taken * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#taken)
      this.#taken = 0
    }
    return work
  }
}
