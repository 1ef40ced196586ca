/** Detects an isolate that computes outside of entries, where only the engine's own housekeeping may run. */

/** Time in the isolate from which it is suspected, and after which, if it continues to compute, the suspicion is proved. */
const backgroundMs = 150

export class IdleWatch {
  /** Time in the isolate when it became idle. */
  #idleAt = 0
  /** Times of the isolate and of the process when the isolate was suspected. */
  #suspected: { readonly isolateMs: number; readonly processorMs: number } | null = null

  /** Restarts the watch: the isolate is idle from now on. `isolateMs` is the time spent in it so far. */
  begin(isolateMs: number): void {
    this.#idleAt = isolateMs
    this.#suspected = null
  }

  /**
   * True if the isolate continues to compute. One collection of a large heap is not enough, nor is time in the isolate
   * during which the process got no processor.
   */
  isComputing(isolateMs: number, processorMs: number): boolean {
    if (this.#suspected === null) {
      if (isolateMs - this.#idleAt > backgroundMs) this.#suspected = { isolateMs, processorMs }
      return false
    }
    return (
      isolateMs - this.#suspected.isolateMs > backgroundMs && processorMs - this.#suspected.processorMs > backgroundMs
    )
  }
}
