/** Metrics of Weft's process, from Node. */
import { constants, monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"
import type { AnySeries } from "@weft/core/adapter"
import { Effect, type Scope } from "effect"

/** Sampling interval of the event loop's delay, in milliseconds. */
const resolution = 20

/** Returns the delay of a timer beyond the sampling interval, which the histogram includes. */
const lagSeconds = (nanos: number): number =>
  Math.max(0, (Number.isFinite(nanos) ? nanos / 1e6 - resolution : 0) / 1000)

/** Makes a function that reads the metrics, until the scope closes. */
export const openProcessMeter: Effect.Effect<() => ReadonlyArray<AnySeries>, never, Scope.Scope> = Effect.gen(
  function* () {
    const delay = yield* eventLoopDelay
    const heapLive = yield* heapAfterCollections
    let rss = residentBytes()
    return () => {
      rss = residentBytes() ?? rss
      const heapUsed = usedHeapBytes()
      const { user, system } = process.cpuUsage()
      const [mean, worst] = [delay.mean, delay.max]
      // Each reading covers the time since the previous one.
      delay.reset()
      return [
        ...(rss === null
          ? []
          : [gauge("process_resident_memory_bytes", "Memory of the process, without its runners", rss)]),
        gauge("nodejs_heap_used_bytes", "Used heap of the process", heapUsed),
        gauge(
          "nodejs_heap_live_bytes",
          "Used heap of the process after the last full garbage collection",
          heapLive() ?? heapUsed
        ),
        gauge("nodejs_eventloop_lag_mean_seconds", "Mean delay of timers since the last reading", lagSeconds(mean)),
        gauge("nodejs_eventloop_lag_max_seconds", "Maximum delay of a timer since the last reading", lagSeconds(worst)),
        gauge("process_uptime_seconds", "Time since the start of the process", process.uptime()),
        {
          type: "counter",
          name: "process_cpu_seconds_total",
          help: "CPU time of the process, without its runners",
          labels: {},
          value: (user + system) / 1e6
        }
      ]
    }
  }
)

/** Returns the resident memory. Null without a free file descriptor: Node reads it from `/proc` and throws EMFILE. */
const residentBytes = (): number | null => {
  try {
    return process.memoryUsage.rss()
  } catch {
    return null
  }
}

/** Returns the used heap. Unlike `process.memoryUsage`, it needs no file descriptor. */
const usedHeapBytes = (): number => getHeapStatistics().used_heap_size

const eventLoopDelay = Effect.acquireRelease(
  Effect.sync(() => {
    const delay = monitorEventLoopDelay({ resolution })
    delay.enable()
    return delay
  }),
  (delay) => Effect.sync(() => void delay.disable())
)

/** Bytes in use after the engine's last full garbage collection; null before the first. */
const heapAfterCollections = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      let left: number | null = null
      const observer = new PerformanceObserver((list) => {
        // Node reports a collection shortly afterwards, so the value includes a few later allocations.
        if (list.getEntries().some(isOfWholeHeap)) left = usedHeapBytes()
      })
      observer.observe({ entryTypes: ["gc"] })
      return { observer, live: () => left }
    }),
    ({ observer }) => Effect.sync(() => observer.disconnect())
  ),
  ({ live }) => live
)

/** True for a full collection. Node's types lack the `kind` of garbage collection entries. */
const isOfWholeHeap = (entry: PerformanceEntry): boolean =>
  "detail" in entry &&
  typeof entry.detail === "object" &&
  entry.detail !== null &&
  "kind" in entry.detail &&
  entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR

const gauge = (name: string, help: string, value: number): AnySeries => ({
  type: "gauge",
  name,
  help,
  labels: {},
  value
})
