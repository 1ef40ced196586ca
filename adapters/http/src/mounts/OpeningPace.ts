/** The number of new connections that open per turn of the event loop. */

/** Turns that take longer, in milliseconds, halve the number. */
const turnMaxMs = 3

/** Maximum number. A dead connection costs 0.1 ms, and the first request of a live one 0.3 ms to 20 ms. */
const opensMax = 32

/**
 * The first reads of connections may hold many requests, or be of clients that have gone. Their cost is only known when the
 * turn has ended. So the number grows by one while turns are short, and halves after a long one.
 */
export class OpeningPace {
  readonly #now: () => number
  #opens = 2
  /** Time of the last turn if connections still waited then. */
  #lastTurn: number | null = null

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Returns the number of connections that may open in this turn. */
  get opens(): number {
    return this.#opens
  }

  /** Takes the time of a turn, in which connections opened. `isLast` is true if none opens in the next one. */
  endTurn(isLast: boolean): void {
    const now = this.#now()
    if (this.#lastTurn !== null) {
      const isLong = now - this.#lastTurn > turnMaxMs
      this.#opens = isLong ? Math.max(1, this.#opens >> 1) : Math.min(opensMax, this.#opens + 1)
    }
    this.#lastTurn = isLast ? null : now
  }
}
