/**
 * What the kernel offers to the layers above it inside an isolate.
 *
 * Runs before any user code, in the same realm. Nothing here reaches the host directly: the kernel turns each
 * call into text that leaves the isolate when the current entry ends.
 */
export interface Bridge {
  /**
   * Schedules `onTimer(id)` of the current run after at least `ms`; throws when the cap of pending timers is
   * reached. Does nothing where no run is current: while a bundle loads, and after a run has ended.
   */
  readonly startTimer: (id: number, ms: number) => void
  readonly stopTimer: (id: number) => void
  /** Set by the platform: called by the kernel when a timer is due. Never called for a run that has ended. */
  onTimer: (id: number) => void
  /** Set by the platform, if it keeps anything by timer: the run of this pending timer ended, it will never be due. */
  onTimerDropped?: (id: number) => void
  /** Appends to the current run's log; `data` is JSON text or null. */
  readonly log: (level: "debug" | "info" | "warn" | "error", message: string, data: string | null) => void
  /**
   * The way to the host of the run that is current, also later: asks it, JSON text in and out. Rejects with an error
   * named as the host says, and when the run has ended. Undefined where no run is current.
   */
  readonly caller: () => HostCaller | undefined
  /** Set by the platform: `svc.files` of the run with this way to the host. */
  files?: (call: HostCaller) => object
  /** Set by the platform: `svc.asset` of such a run. */
  asset?: (call: HostCaller, name: unknown) => Promise<object | null>
  /** The largest argument or answer of a host call, in bytes of UTF-8. */
  readonly callBytes: number
  /** Fresh random bytes seeded by the host when the isolate was created: 48 bytes of entropy, once. */
  readonly entropy: Uint8Array
  /** Milliseconds since the isolate started, coarse. */
  readonly now: () => number
}

export type HostCaller = (op: string, payload: string) => Promise<string>
