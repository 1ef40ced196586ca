/** Measures the time that a run computes in an isolate without interruption. */
import { processorMs } from "./ProcessorTime.ts"

/** Maximum time charged for a slice before the first observation: a later observation means that it waited. */
const unseenMs = 20

export class CpuSlice {
  /** Start of the slice as observed, on the monotonic clock. */
  startedAt = 0
  #number = 0
  /** Start of the slice on the clock of `processorMs`; null until the first observation. */
  #processorStart: number | null = null
  /** Time of the first observation on the clock of `processorMs`. */
  #observedAt = 0

  /** Starts the slice of a new entry. */
  begin(now: number): void {
    this.startedAt = now
    this.#processorStart = null
  }

  /** Observes the slice, every few milliseconds. `number` is the kernel's count of entered messages. */
  watch(now: number, number: number): void {
    if (number !== this.#number) {
      this.#number = number
      this.begin(now)
    }
    if (this.#processorStart !== null) return
    this.#observedAt = processorMs()
    this.#processorStart = this.#observedAt - Math.min(now - this.startedAt, unseenMs)
  }

  /** True if the process has used so much processor time since the first observation: it does not only wait for a turn. */
  hasComputed(ms: number): boolean {
    return this.#processorStart !== null && processorMs() - this.#observedAt >= ms
  }

  /** True if both the elapsed time and the processor time exceed `ms`: on a busy machine the clock alone proves nothing. */
  isExceeded(now: number, ms: number): boolean {
    return now - this.startedAt >= ms && this.#processorStart !== null && processorMs() - this.#processorStart >= ms
  }
}
