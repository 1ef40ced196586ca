/** `node:perf_hooks`: the global `performance`, and no entries. */
import { refuse } from "./refuse.ts"

class PerformanceObserver {
  static readonly supportedEntryTypes: ReadonlyArray<string> = []
  observe(): void {}
  disconnect(): void {}
  takeRecords(): ReadonlyArray<unknown> {
    return []
  }
}

class PerformanceEntry {}
class PerformanceMark extends PerformanceEntry {}
class PerformanceMeasure extends PerformanceEntry {}
class PerformanceObserverEntryList {}
class PerformanceResourceTiming extends PerformanceEntry {}

export const { performance } = globalThis
export const Performance: unknown = Reflect.get(globalThis, "Performance")
export const constants = Object.freeze({})
export const eventLoopUtilization = () => ({ idle: 0, active: 0, utilization: 0 })
export const timerify = <F>(fn: F): F => fn
export const createHistogram = refuse("perf_hooks.createHistogram")
export const monitorEventLoopDelay = refuse("perf_hooks.monitorEventLoopDelay")
export {
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  PerformanceObserver,
  PerformanceObserverEntryList,
  PerformanceResourceTiming
}

import * as all from "./perf_hooks.ts"
export default /* @__PURE__ */ Object.assign({}, all)
