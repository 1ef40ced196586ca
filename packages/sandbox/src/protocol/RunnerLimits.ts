/** What a runner needs to know of the limits. Units are in the names. */
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
  readonly exportsBytes: number
  readonly functionsWithMeta: number
  /** What an isolate may have to say at the end of one entry, in characters. */
  readonly outboxLength: number
  /** Isolates that may compute at once in one runner. */
  readonly entered: number
}
