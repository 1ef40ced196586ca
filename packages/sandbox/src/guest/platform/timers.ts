/**
 * `setTimeout`, `setInterval` and the related functions, on the kernel's timers.
 *
 * The kernel knows when a timer is due and its run; this module stores only the callbacks. Errors of a callback pass to
 * the kernel, which knows the run.
 */
import { host } from "./host.ts"
import { isHandled } from "./report.ts"

interface Timer {
  readonly callback: () => void
  /** Milliseconds between calls; null for a timer that fires once. */
  readonly interval: number | null
  /** Called if the run ends before the timer is due. */
  readonly onDropped: (() => void) | null
}

/** Maximum delay, in milliseconds: about 24.8 days. */
const delayMax = 2 ** 31 - 1

const timers = new Map<number, Timer>()
let lastId = 0

/**
 * Converts a delay to a signed integer of 32 bits, as browsers do. A delay of 2 ** 31 or more therefore wraps around, and
 * `Infinity` becomes 0.
 */
const toDelay = (given: unknown): number => Math.max(Number(given) | 0, 0)

/** Starts a timer. Throws if the run has the maximum number of timers. */
export const startTimer = (callback: () => void, ms: number, repeat: boolean = false): number => {
  const id = ++lastId
  const delay = Math.min(ms, delayMax)
  host().startTimer(id, delay)
  timers.set(id, { callback, interval: repeat ? delay : null, onDropped: null })
  return id
}

/** Calls back when the current run has ended. Returns a timer, which cancels that when it is stopped. */
export const afterRun = (callback: () => void): number => {
  const id = ++lastId
  host().startTimer(id, delayMax)
  timers.set(id, { callback: () => undefined, interval: null, onDropped: callback })
  return id
}

export const stopTimer = (id: number): void => {
  if (timers.delete(id)) {
    host().stopTimer(id)
  }
}

/** True if the timer will fire. */
export const isPending = (id: number): boolean => timers.has(id)

/** Removes a timer that will never be due, because its run has ended. */
export const dropTimer = (id: number): void => {
  const onDropped = timers.get(id)?.onDropped
  timers.delete(id)
  // Not now: the kernel is ending the run.
  if (onDropped !== null && onDropped !== undefined) {
    void Promise.resolve().then(onDropped)
  }
}

/** Runs the callback of a due timer. */
export const fireTimer = (id: number): void => {
  const timer = timers.get(id)
  if (timer === undefined) {
    return
  }
  if (timer.interval === null) {
    timers.delete(id)
    call(timer.callback)
    return
  }
  try {
    call(timer.callback)
  } finally {
    restart(id, timer.interval)
  }
}

/** Calls back. An error that a listener of the global object handles goes no further. */
const call = (callback: () => void): void => {
  try {
    callback()
  } catch (error) {
    if (!isHandled(error)) {
      throw error
    }
  }
}

const restart = (id: number, ms: number): void => {
  if (!timers.has(id)) {
    return
  }
  try {
    host().startTimer(id, ms)
  } catch (error) {
    timers.delete(id)
    throw error
  }
}

type Callback = (...args: ReadonlyArray<unknown>) => unknown

const requireFunction = (callback: unknown): void => {
  if (typeof callback !== "function") {
    throw new TypeError("The callback must be a function; code in strings is not supported.")
  }
}

export const setTimeout = (callback: Callback, ms?: number, ...args: ReadonlyArray<unknown>): number => {
  requireFunction(callback)
  return startTimer(() => void callback(...args), toDelay(ms))
}

export const setInterval = (callback: Callback, ms?: number, ...args: ReadonlyArray<unknown>): number => {
  requireFunction(callback)
  return startTimer(() => void callback(...args), toDelay(ms), true)
}

export const clearTimeout = (id?: number): void => stopTimer(Number(id))

export const clearInterval = (id?: number): void => stopTimer(Number(id))
