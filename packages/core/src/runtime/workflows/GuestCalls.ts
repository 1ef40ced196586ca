/**
 * The host calls of a guest for its requests, and whether it is idle.
 *
 * The guest reports that it can do nothing until it receives a result, with the number of answers that it has received. A
 * report that crossed an answer is stale; the guest sends another one.
 */
import { Effect } from "effect"

export class GuestCalls {
  #calls = 0
  #answers = 0
  /** Answers that the guest had received when it last reported that it is idle. */
  #reported = -1

  /**
   * Counts a call now, and its answer later. The rate of the plan may delay the call, so that the report that follows it arrives
   * first.
   */
  count<A, E>(answer: Effect.Effect<A, E>): Effect.Effect<A, E> {
    this.#calls++
    return Effect.ensuring(
      answer,
      Effect.sync(() => {
        this.#answers++
      })
    )
  }

  /** Counts a result that no counted call has asked for. It makes an earlier report of idleness stale. */
  countResult(): void {
    this.#calls++
    this.#answers++
  }

  /** Takes the report of a guest that had received so many answers. */
  report(answers: number): void {
    this.#reported = answers
  }

  /** True if the guest has received all answers, and none but those of `open` waits is on its way. */
  isIdle(open: number): boolean {
    return this.#reported === this.#answers && this.#calls - this.#answers === open
  }
}
