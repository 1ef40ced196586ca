/**
 * Pauses between long pieces of work, such as the parse of a body of 4 MiB.
 *
 * A webhook crosses the event loop about five times, and each crossing would wait for such a piece. So after a long piece,
 * keys with long work pause for as long as it took. Keys without long work then have the loop for themselves. If only keys
 * with long work are active, none pauses.
 */
import type { Lane } from "./Lane.ts"

/** Time for which a key counts as one with long work, in milliseconds. */
const rememberedMs = 1_000

/** Time for which a key without long work counts as active, in milliseconds. */
const activeMs = 1_000

/** Maximum pause in milliseconds. */
const restMaxMs = 50

export class Rest {
  /** Work that takes longer is long, in milliseconds. */
  readonly #longMs: number
  #until = 0
  /** Time of the latest work of a key without long work. */
  #lightAt = Number.NEGATIVE_INFINITY

  constructor(longMs: number) {
    this.#longMs = longMs
  }

  /** End of the current pause, or of the last one. */
  get until(): number {
    return this.#until
  }

  /** Records work of the lane that has ended now. */
  record(lane: Lane, ms: number, now: number): void {
    if (ms > this.#longMs) {
      lane.longUntil = now + rememberedMs
      if (now - this.#lightAt < activeMs) this.#until = now + Math.min(ms, restMaxMs)
    } else if (lane.longUntil <= now) this.#lightAt = now
  }

  /** True if work of the lane must wait until the end of the pause. */
  holds(lane: Lane, now: number): boolean {
    return this.#until > now && lane.longUntil > now
  }
}
