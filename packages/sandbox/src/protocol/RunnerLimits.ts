/** Limits that a runner enforces. The names contain the units. */
export interface RunnerLimits {
  readonly heapBytes: number
  readonly bufferBytes: number
  readonly cpuSliceMs: number
  readonly loadMs: number
  readonly pendingHostCalls: number
  readonly pendingTimers: number
  readonly hostCallBytes: number
  readonly resultBytes: number
  readonly logBytes: number
  readonly cryptoBytes: number
  readonly cryptoRsaBits: number
  readonly cryptoRounds: number
  readonly cryptoMs: number
  readonly exportsBytes: number
  readonly functionsWithMeta: number
  /** Maximum output of an isolate at the end of one entry, in characters. */
  readonly outboxLength: number
  /** Maximum isolates that compute at once in one runner. */
  readonly entered: number
}
