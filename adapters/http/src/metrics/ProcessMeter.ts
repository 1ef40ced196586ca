/** The process that Weft runs in, as Node knows it. */
import { constants, monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks"
import type { AnySeries } from "@weft/core"
import { Effect, type Scope } from "effect"

/** How often the event loop's delay is looked at, in milliseconds. */
const resolution = 20

/** What a timer is late beyond its resolution; the histogram counts both. */
const lagSeconds = (nanos: number): number =>
  Math.max(0, (Number.isFinite(nanos) ? nanos / 1e6 - resolution : 0) / 1000)

/** Reads the process, until the scope closes. */
export const openProcessMeter: Effect.Effect<() => ReadonlyArray<AnySeries>, never, Scope.Scope> = Effect.gen(
  function* () {
    const delay = yield* eventLoopDelay
    const heapLive = yield* heapAfterCollections
    return () => {
      const { rss, heapUsed } = process.memoryUsage()
      const { user, system } = process.cpuUsage()
      const [mean, worst] = [delay.mean, delay.max]
      // Each reading is of the time since the one before.
      delay.reset()
      return [
        gauge("process_resident_memory_bytes", "Memory of the process, without its runners", rss),
        gauge("nodejs_heap_used_bytes", "Used heap of the process", heapUsed),
        gauge(
          "nodejs_heap_live_bytes",
          "Used heap of the process after it was last collected as a whole",
          heapLive() ?? heapUsed
        ),
        gauge("nodejs_eventloop_lag_mean_seconds", "How late timers were since the last reading", lagSeconds(mean)),
        gauge(
          "nodejs_eventloop_lag_max_seconds",
          "How late a timer was at most since the last reading",
          lagSeconds(worst)
        ),
        gauge("process_uptime_seconds", "How long the process runs", process.uptime()),
        {
          type: "counter",
          name: "process_cpu_seconds_total",
          help: "Computing of the process, without its runners",
          labels: {},
          value: (user + system) / 1e6
        }
      ]
    }
  }
)

const eventLoopDelay = Effect.acquireRelease(
  Effect.sync(() => {
    const delay = monitorEventLoopDelay({ resolution })
    delay.enable()
    return delay
  }),
  (delay) => Effect.sync(() => void delay.disable())
)

/** Bytes that were left when the whole heap was last collected, by the engine's own choice; null until then. */
const heapAfterCollections = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      let left: number | null = null
      const observer = new PerformanceObserver((list) => {
        // Node tells a moment after: what was allocated meanwhile counts, which is little.
        if (list.getEntries().some(isOfWholeHeap)) left = process.memoryUsage().heapUsed
      })
      observer.observe({ entryTypes: ["gc"] })
      return { observer, live: () => left }
    }),
    ({ observer }) => Effect.sync(() => observer.disconnect())
  ),
  ({ live }) => live
)

/** Node's types do not know that entries of collections have the collection's kind. */
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
