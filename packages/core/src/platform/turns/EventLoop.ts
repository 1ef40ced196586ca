/** The event loop that the scheduler shares out: its clock, and a way to yield to it. */

export interface EventLoop {
  /** Monotonic time in milliseconds, with fractions. */
  readonly now: () => number
  /** Calls back after the loop has read its sockets and run its due timers. */
  readonly nextTurn: (callback: () => void) => void
  /** Calls back after `ms` milliseconds. */
  readonly after: (ms: number, callback: () => void) => void
  /** Calls back when the current task of the loop, such as the callback of a socket, has returned. */
  readonly afterTask: (callback: () => void) => void
}

// The packages that embed core need no types of Node.js, which has both.
declare const performance: { readonly now: () => number }
declare const setImmediate: (callback: () => void) => unknown
declare const setTimeout: (callback: () => void, ms: number) => unknown
declare const queueMicrotask: (callback: () => void) => void

/** The event loop of this thread. */
export const eventLoop: EventLoop = {
  now: () => performance.now(),
  nextTurn: (callback) => void setImmediate(callback),
  after: (ms, callback) => void setTimeout(callback, ms),
  afterTask: (callback) => queueMicrotask(callback)
}
