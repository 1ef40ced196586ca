/**
 * Measures the capacity of a target. The load rises step by step until responses are late or a backlog grows. The result
 * must then hold for longer, because a backlog may grow slowly, and is lowered until it does.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { draws } from "@weft/tooling/draws"
import { makeClient } from "../nodes/Client.ts"
import type { Ledger } from "../nodes/Ledger.ts"
import { beginLoad } from "../nodes/Load.ts"
import { Latencies } from "./Latencies.ts"
import type { SoakTarget } from "./SoakTarget.ts"

export interface Capacity {
  /** Sustained requests per second. */
  readonly perSecond: number
  /** 99th percentile of latency at that rate. */
  readonly p99Ms: number
}

export interface CalibrationOptions {
  readonly target: SoakTarget
  /** Continues the request numbers, so that later requests have other keys. */
  readonly ledger: Ledger
  readonly seed: number
  readonly progress: (text: string) => void
}

const stepMs = 6_000
const confirmedMs = 60_000
const first = 25
const factor = 1.4
const confirmFactor = 1.15
const rateMax = 4_000

/** Maximum latency of events, and maximum share of skipped requests, at a sustained rate. */
const p99MsMax = 500
const shareSkippedMax = 0.01

/** Maximum growth of the backlog during a step, in seconds of requests. */
const backlogSecondsMax = 0.5

export const calibrate = async (options: CalibrationOptions): Promise<Capacity> => {
  for (let found = await climb(options); ; found = { ...found, perSecond: found.perSecond / confirmFactor }) {
    const { isSustained, p99Ms, summary } = await step(options, found.perSecond, confirmedMs)
    options.progress(`${found.perSecond.toFixed(0)} requests/s for ${confirmedMs / 1000} seconds: ${summary}`)
    if (isSustained || found.perSecond < first) return { ...found, p99Ms }
    await waitUntilIdle(options.target)
  }
}

/** Returns the last sustained step. A failed step is repeated once, because the machine may have been busy. */
const climb = async (options: CalibrationOptions): Promise<Capacity> => {
  const { progress } = options
  let sustained: Capacity = { perSecond: first, p99Ms: 0 }
  // Warm-up: code is not compiled yet.
  await step(options, first, stepMs)
  for (let rate = first; rate <= rateMax; rate *= factor) {
    let tried = await step(options, rate, stepMs)
    if (!tried.isSustained) tried = await step(options, rate, stepMs)
    progress(`${rate.toFixed(0)} requests/s: ${tried.summary}`)
    if (!tried.isSustained) break
    sustained = { perSecond: rate, p99Ms: tried.p99Ms }
  }
  return sustained
}

interface Step {
  readonly isSustained: boolean
  readonly p99Ms: number
  readonly summary: string
}

const step = async ({ target, ledger, seed }: CalibrationOptions, rate: number, lastsMs: number): Promise<Step> => {
  const latencies = new Latencies()
  const client = latencies.measure(makeClient(target, ledger, draws(seed)))
  const [skipped, waiting] = [ledger.skipped, await countPending(target)]
  const load = beginLoad(client, ledger, draws(seed + rate), rate)
  await sleep(lastsMs)
  const p99Ms = latencies.take().get("event")?.p99 ?? Number.POSITIVE_INFINITY
  const backlog = (await countPending(target)) - waiting
  await load.stop()
  const shareSkipped = (ledger.skipped - skipped) / (rate * (lastsMs / 1000))
  // 4 of 100 events have a delay of up to 8 s, and grouped events may be parked.
  const isSustained = p99Ms <= p99MsMax && shareSkipped <= shareSkippedMax && backlog <= rate * backlogSecondsMax
  const summary = `p99 ${p99Ms.toFixed(0)} ms, ${backlog} more pending deliveries${isSustained ? "" : ": too many"}`
  return { isSustained, p99Ms, summary }
}

const countPending = async ({ query }: SoakTarget): Promise<number> => {
  const [row] = await query("SELECT count(*) AS n FROM deliveries")
  return Number(row?.n)
}

/** Waits until no work is pending. */
export const waitUntilIdle = async ({ query }: SoakTarget): Promise<void> => {
  for (let waited = 0; waited < 120_000; waited += 500) {
    const [row] = await query(
      "SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM runs WHERE status = 'running') AS open"
    )
    if (Number(row?.open) === 0) return
    await sleep(500)
  }
}
