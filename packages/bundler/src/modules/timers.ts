/** `node:timers`. */
import promises from "node:timers/promises"
import { clearImmediate, setImmediate } from "./globals/timers.ts"

type Callback = (...given: ReadonlyArray<unknown>) => void

// The globals are read at each call, because `node:async_hooks` replaces them.
export const setTimeout = (callback: Callback, ms?: number, ...given: ReadonlyArray<unknown>) =>
  globalThis.setTimeout(callback, ms, ...given)
export const setInterval = (callback: Callback, ms?: number, ...given: ReadonlyArray<unknown>) =>
  globalThis.setInterval(callback, ms, ...given)
export const { clearInterval, clearTimeout } = globalThis

export { clearImmediate, promises, setImmediate }
export default { clearImmediate, clearInterval, clearTimeout, promises, setImmediate, setInterval, setTimeout }
