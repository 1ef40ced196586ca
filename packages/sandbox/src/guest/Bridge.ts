/**
 * The interface between the kernel and the layers above it in an isolate.
 *
 * These layers start before any user code, in the same realm. No call reaches the host directly: the kernel converts each
 * to text, which leaves the isolate at the end of the current entry.
 */
export interface Bridge {
  /**
   * Schedules `onTimer(id)` of the current run after at least `ms` milliseconds. Throws if the run has the maximum of
   * pending timers. Does nothing without a current run: while a bundle loads, and after a run has ended.
   */
  readonly startTimer: (id: number, ms: number) => void
  readonly stopTimer: (id: number) => void
  /** Set by the platform. The kernel calls it when a timer is due, but not for a run that has ended. */
  onTimer: (id: number) => void
  /** Set by the platform. The kernel calls it for each pending timer of a run that ended: it will never be due. */
  onTimerDropped?: (id: number) => void
  /** Appends to the current run's log; `data` is JSON text or null. */
  readonly log: (level: "debug" | "info" | "warn" | "error", message: string, data: string | null) => void
  /**
   * Returns the host caller of the current run, usable as long as the run lasts; undefined without a current run. It
   * takes and returns JSON text. It rejects with an error of the name that the host gives, and when the run has ended.
   */
  readonly caller: () => HostCaller | undefined
  /**
   * Requests a computation of the runner for the current run, or without one for the next run. `bytes` is binary text.
   * Resolves with the answer, and rejects with an error of the name that the runner gives.
   */
  readonly compute: (request: string, bytes: string) => Promise<string>
  /** Maximum length of the requests of a run that are computed at once. */
  readonly computeBytes: number
  /** Returns an object that stands for the current run, or for none. It lives as long as the run and has no content. */
  readonly scope: () => object
  /** Set by the platform: creates `svc.files` of the run with this host caller. */
  files?: (call: HostCaller) => object
  /** Set by the platform: implements `svc.asset` of the run with this host caller. */
  asset?: (call: HostCaller, name: unknown) => Promise<object | null>
  /** Maximum argument or result of a host call, in bytes of UTF-8. */
  readonly callBytes: number
  /** 48 random bytes from the host, created with the isolate. */
  readonly entropy: Uint8Array
  /** Returns the milliseconds since the isolate started, coarse. */
  readonly now: () => number
}

export type HostCaller = (op: string, payload: string) => Promise<string>
