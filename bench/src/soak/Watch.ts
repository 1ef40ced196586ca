/** Looks at the nodes every few seconds while they work. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import { tickSeconds } from "../nodes/Guest.ts"
import type { Fault } from "../nodes/Ledger.ts"
import { residentMiB } from "../targets/Memory.ts"
import { proportionalMiB, treeOf } from "../targets/ProcessTree.ts"
import type { Latencies } from "./Latencies.ts"
import type { Place } from "./Place.ts"
import { holdingsOf } from "./Processes.ts"
import type { Figure, Series } from "./Series.ts"

const MiB = 1024 ** 2

const figure =
  (panel: string, share: number, least: number) =>
  (name: string): Figure => ({
    panel,
    name,
    tolerance: { share, least }
  })

const memory = figure("memory of a node's process (RSS), MiB", 0.1, 24)
/** Of what is in use, most is garbage: up to four fifths, in teeth of ten seconds. */
const heap = figure("heap of a node after collections, MiB", 0.1, 12)
const runners = figure("memory of a node's runners (PSS), MiB", 0.15, 48)
const descriptors = figure("descriptors of a node and its runners", 0.05, 8)
const threads = figure("threads of a node and its runners", 0, 2)
const processes = figure("processes of a node", 0, 1)
const lag = figure("event loop's delay at most, ms", 0.5, 50)
/** Of the process that makes the load: where it is late, the machine has no time for anybody. */
export const own: Figure = { panel: "event loop's delay at most, ms", name: "the load itself", tolerance: null }
const waiting = figure("deliveries that wait", 0.25, 50)
const median = figure("median latency, ms", 0.5, 5)
const tail = figure("99th percentile of latency, ms", 1, 50)
const rows = figure("rows that come and go", 0.1, 50)
const store = figure("write-ahead log and connections", 0.25, 8)

/** Tables that keep what they have got, and why. */
export const kept: ReadonlyMap<string, string> = new Map([
  ["events", "nothing removes events"],
  ["once", "keys are free again after 24 hours"],
  ["service_keys", "keys that ended stay visible, as the specification says"],
  ["audit", "the audit log is kept for a year"],
  ["run_counts", "what a project ran in a month counts for the plan after it is gone; its rows stay"]
])

export const panelOfKept = "rows that are kept"
const rowsKept = (name: string): Figure => ({ panel: panelOfKept, name, tolerance: null })
const size = (name: string): Figure => ({ panel: "size of the database, MiB", name, tolerance: null })

/** Latencies of requests that come often enough for percentiles. */
const frequent = new Set(["event", "call", "webhook"])

export interface Watching {
  /** When the machine had no time for anybody: the process that makes the load could not go on for so long itself. */
  readonly stalls: ReadonlyArray<Fault>
  readonly stop: () => Promise<void>
}

export interface WatchOptions {
  readonly place: Place
  readonly series: Series
  readonly latencies: Latencies
  readonly everyMs: number
}

/** Half of the time between two ticks of a schedule, of which two that are both missed fire as one. */
const stallMs = (tickSeconds * 1000) / 2

/** Tables are counted once in so many times. */
const tablesEvery = 6

export const watchPlace = ({ place, series, latencies, everyMs }: WatchOptions): Watching => {
  const began = performance.now()
  let isOver = false
  const stalls: Array<Fault> = []
  let lookedAt = Date.now()
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  const looping = (async () => {
    for (let n = 0; !isOver; n++) {
      const next = performance.now() + everyMs
      const minutes = (performance.now() - began) / 60_000
      await Promise.all(place.slots.map(({ name, node }) => lookAt(series, minutes, name, node)))
      for (const [kind, { p50, p99 }] of latencies.take()) {
        if (!frequent.has(kind)) continue
        series.add(median(kind), minutes, p50)
        series.add(tail(kind), minutes, p99)
      }
      series.add(own, minutes, delay.max / 1e6)
      const now = Date.now()
      if (delay.max / 1e6 > stallMs) stalls.push({ kind: "stall", slots: [], from: lookedAt, to: now })
      lookedAt = now
      delay.reset()
      await weigh(place, series, minutes)
      if (n % tablesEvery === 0) await count(place, series, minutes)
      while (!isOver && performance.now() < next) await sleep(Math.min(200, Math.max(1, next - performance.now())))
    }
  })()
  return {
    stalls,
    stop: async () => {
      isOver = true
      await looping
      delay.disable()
    }
  }
}

const lookAt = async (
  series: Series,
  minutes: number,
  name: string,
  node: Place["slots"][number]["node"]
): Promise<void> => {
  if (node === null) return
  const [, ...others] = treeOf(node.pid)
  const held = [node.pid, ...others].flatMap((pid) => holdingsOf(pid) ?? [])
  const sum = (of: "descriptors" | "threads"): number => held.reduce((total, each) => total + each[of], 0)
  series.add(memory(name), minutes, residentMiB(node.pid))
  series.add(runners(name), minutes, proportionalMiB(others))
  series.add(descriptors(name), minutes, sum("descriptors"))
  series.add(threads(name), minutes, sum("threads"))
  series.add(processes(name), minutes, held.length)
  const told = await (await fetch(`${node.url}/metrics`)).text()
  const metric = (series: string): number => Number(new RegExp(`^${series} (\\S+)$`, "m").exec(told)?.[1])
  series.add(heap(name), minutes, metric("nodejs_heap_live_bytes") / MiB)
  series.add(lag(name), minutes, metric("nodejs_eventloop_lag_max_seconds") * 1000)
  series.add(waiting(name), minutes, metric("weft_deliveries_waiting"))
}

const weigh = async (place: Place, series: Series, minutes: number): Promise<void> => {
  for (const [name, value] of Object.entries(await place.sizes())) {
    series.add(name.startsWith("database") ? size("database") : store(name), minutes, value)
  }
}

const count = async (place: Place, series: Series, minutes: number): Promise<void> => {
  for (const table of await place.tables()) {
    const [row] = await place.ask(`SELECT count(*) AS n FROM ${table}`)
    const rowsOf = kept.has(table) ? rowsKept(table) : rows(table)
    series.add(rowsOf, minutes, Number(row?.n))
  }
}
