/** How long the run that computes in an isolate has been at it without a pause. */
import { processorMs } from "./ProcessorTime.ts"

/** What a stretch is taken to have computed before the watch saw it, at most: where that comes late, it was kept waiting. */
const unseenMs = 20

export class Stretch {
  /** Since when, on the monotonic clock; as far as the watch has seen. */
  since = 0
  #number = 0
  /** On the clock of `processorMs`; null until the watch has seen the stretch. */
  #processorSince: number | null = null

  /** An entry begins. */
  begin(now: number): void {
    this.since = now
    this.#processorSince = null
  }

  /** Called every few milliseconds with the number of the stretch, as the kernel counts them. */
  watch(now: number, number: number): void {
    if (number !== this.#number) {
      this.#number = number
      this.begin(now)
    }
    this.#processorSince ??= processorMs() - Math.min(now - this.since, unseenMs)
  }

  /** Whether it has had so much of the processor. Where the machine has none to give, the clock alone says nothing. */
  isOver(now: number, ms: number): boolean {
    return now - this.since >= ms && this.#processorSince !== null && processorMs() - this.#processorSince >= ms
  }
}
