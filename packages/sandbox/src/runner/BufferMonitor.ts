/**
 * Checks the memory that an isolate holds outside its heap.
 *
 * It may be garbage that the engine has not collected yet: a busy guest produces megabytes of text per second there. One
 * that reads two bodies of 20 MiB in succession produces three times their size. So above half of the limit, new runs go
 * to a new isolate. Only an isolate above the limit in several samples in a row is ended.
 */
const samplesMax = 3

export class BufferMonitor {
  readonly #limitBytes: number
  #samplesOver = 0
  #isDraining = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Returns the state after a sample. It is `draining` once, at the first sample above half of the limit. */
  check(bytes: number): "ok" | "draining" | "over" {
    this.#samplesOver = bytes > this.#limitBytes ? this.#samplesOver + 1 : 0
    if (this.#samplesOver === samplesMax) return "over"
    if (this.#isDraining || bytes <= this.#limitBytes / 2) return "ok"
    this.#isDraining = true
    return "draining"
  }
}
