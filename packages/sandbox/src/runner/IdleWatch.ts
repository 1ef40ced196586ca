/** Detects an isolate that computes outside of entries, where only the engine's own housekeeping may run. */

/** Time in the isolate from which it is suspected, and after which, if it goes on computing, the suspicion is proved. */
const backgroundMs = 150

export class IdleWatch {
  /** Time in the isolate when it became idle. */
  #idleAt = 0
  /** When the isolate was suspected: its own time, and that of the process. */
  #suspected: { readonly isolateMs: number; readonly processorMs: number } | null = null

  /** Starts anew: the isolate is idle from now on. `isolateMs` is the time spent in it so far. */
  begin(isolateMs: number): void {
    this.#idleAt = isolateMs
    this.#suspected = null
  }

  /**
   * True if the isolate computes on and on. One collection of a large heap is not enough, nor is time in the isolate
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
