/** Samples the nodes every few seconds during a soak. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import { listTree, proportionalMiB, residentMiB } from "@weft/bench/instruments"
import { tickSeconds } from "../nodes/Guest.ts"
import type { Fault } from "../nodes/Ledger.ts"
import type { Latencies } from "./Latencies.ts"
import { readResources } from "./Processes.ts"
import type { Figure, Series } from "./Series.ts"
import type { SoakTarget } from "./SoakTarget.ts"

const MiB = 1024 ** 2

const figure =
  (panel: string, share: number, least: number) =>
  (name: string): Figure => ({
    panel,
    name,
    tolerance: { share, least }
  })

const memory = figure("memory of a node's process (RSS), MiB", 0.1, 24)
/** Live heap only: up to 80 % of the used heap is garbage, in sawteeth of 10 s. */
const heap = figure("node heap after collections, MiB", 0.1, 12)
const runners = figure("memory of a node's runners (PSS), MiB", 0.15, 48)
const descriptors = figure("descriptors of a node and its runners", 0.05, 8)
const threads = figure("threads of a node and its runners", 0, 2)
const processes = figure("processes of a node", 0, 1)
const lag = figure("maximum event loop delay, ms", 0.5, 50)
/** Delay of the load generator itself: if it is late, the machine is overloaded. */
export const own: Figure = { panel: "maximum event loop delay, ms", name: "load generator", tolerance: null }
const pending = figure("pending deliveries", 0.25, 50)
const median = figure("median latency, ms", 0.5, 5)
const tail = figure("99th percentile of latency, ms", 1, 50)
const rows = figure("rows of tables without retention", 0.1, 50)
const store = figure("write-ahead log and connections", 0.25, 8)

/** Tables whose rows are retained, with the reason. */
export const kept: ReadonlyMap<string, string> = new Map([
  ["events", "nothing removes events"],
  ["once", "keys expire after 24 hours"],
  ["service_keys", "expired keys stay visible, as the specification requires"],
  ["audit", "the audit log is retained for a year"],
  ["run_counts", "runs of a removed project still count for the plan in their month"]
])

export const panelOfKept = "rows that are retained"
const rowsKept = (name: string): Figure => ({ panel: panelOfKept, name, tolerance: null })
const size = (name: string): Figure => ({ panel: "size of the database, MiB", name, tolerance: null })

/** Kinds of requests that are frequent enough for percentiles. */
const frequent = new Set(["event", "call", "webhook"])

export interface Watching {
  /** Times in which the machine stalled: the load generator itself did not run. */
  readonly stalls: ReadonlyArray<Fault>
  readonly stop: () => Promise<void>
}

export interface WatchOptions {
  readonly target: SoakTarget
  readonly series: Series
  readonly latencies: Latencies
  readonly everyMs: number
}

/** Half of the interval of ticks: two ticks that a longer stall delays may fire as one. */
const stallMs = (tickSeconds * 1000) / 2

/** Tables are counted in every sixth sample. */
const tablesEvery = 6

export const watchTarget = ({ target, series, latencies, everyMs }: WatchOptions): Watching => {
  const began = performance.now()
  let isStopped = false
  const stalls: Array<Fault> = []
  let sampledAt = Date.now()
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  const looping = (async () => {
    for (let n = 0; !isStopped; n++) {
      const next = performance.now() + everyMs
      const minutes = (performance.now() - began) / 60_000
      await Promise.all(target.slots.map(({ name, node }) => sampleNode(series, minutes, name, node)))
      for (const [kind, { p50, p99 }] of latencies.take()) {
        if (!frequent.has(kind)) continue
        series.add(median(kind), minutes, p50)
        series.add(tail(kind), minutes, p99)
      }
      series.add(own, minutes, delay.max / 1e6)
      const now = Date.now()
      if (delay.max / 1e6 > stallMs) stalls.push({ kind: "stall", slots: [], from: sampledAt, to: now })
      sampledAt = now
      delay.reset()
      await sampleSizes(target, series, minutes)
      if (n % tablesEvery === 0) await countRows(target, series, minutes)
      while (!isStopped && performance.now() < next) await sleep(Math.min(200, Math.max(1, next - performance.now())))
    }
  })()
  return {
    stalls,
    stop: async () => {
      isStopped = true
      await looping
      delay.disable()
    }
  }
}

const sampleNode = async (
  series: Series,
  minutes: number,
  name: string,
  node: SoakTarget["slots"][number]["node"]
): Promise<void> => {
  if (node === null) return
  const [, ...others] = listTree(node.pid)
  const resources = [node.pid, ...others].flatMap((pid) => readResources(pid) ?? [])
  const sum = (of: "descriptors" | "threads"): number => resources.reduce((total, each) => total + each[of], 0)
  series.add(memory(name), minutes, residentMiB(node.pid))
  series.add(runners(name), minutes, proportionalMiB(others))
  series.add(descriptors(name), minutes, sum("descriptors"))
  series.add(threads(name), minutes, sum("threads"))
  series.add(processes(name), minutes, resources.length)
  const metrics = await (await fetch(`${node.url}/metrics`)).text()
  const metric = (series: string): number => Number(new RegExp(`^${series} (\\S+)$`, "m").exec(metrics)?.[1])
  series.add(heap(name), minutes, metric("nodejs_heap_live_bytes") / MiB)
  series.add(lag(name), minutes, metric("nodejs_eventloop_lag_max_seconds") * 1000)
  series.add(pending(name), minutes, metric("weft_deliveries_waiting"))
}

const sampleSizes = async (target: SoakTarget, series: Series, minutes: number): Promise<void> => {
  for (const [name, value] of Object.entries(await target.sizes())) {
    series.add(name.startsWith("database") ? size("database") : store(name), minutes, value)
  }
}

const countRows = async (target: SoakTarget, series: Series, minutes: number): Promise<void> => {
  for (const table of await target.tables()) {
    const [row] = await target.query(`SELECT count(*) AS n FROM ${table}`)
    const rowsOf = kept.has(table) ? rowsKept(table) : rows(table)
    series.add(rowsOf, minutes, Number(row?.n))
  }
}
