/**
 * How much a place bears: the load is raised step by step until answers get late or work is left behind; what is found
 * has to hold for longer then, as a queue may grow slowly, and is lowered until it does.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { draws } from "@weft/tooling/draws"
import { makeClient } from "../nodes/Client.ts"
import type { Ledger } from "../nodes/Ledger.ts"
import { beginLoad } from "../nodes/Load.ts"
import { Latencies } from "./Latencies.ts"
import type { Place } from "./Place.ts"

export interface Capacity {
  /** Requests in a second that are borne. */
  readonly perSecond: number
  /** The last one borne, with what is like it. */
  readonly p99Ms: number
}

export interface CalibrationOptions {
  readonly place: Place
  /** The number of a request goes on from here, so that the keys of later ones are others. */
  readonly ledger: Ledger
  readonly seed: number
  readonly progress: (text: string) => void
}

const stepMs = 6_000
const confirmedMs = 60_000
const first = 25
const factor = 1.4
const confirmFactor = 1.15
const most = 4_000

/** What of the events may be late, and what of the requests may be left out, before it is too much. */
const p99MsMost = 500
const shareSkippedMost = 0.01

/** How much more may wait after a step than before, in seconds of its requests: what is borne leaves nothing behind. */
const behindSecondsMost = 0.5

export const calibrate = async (options: CalibrationOptions): Promise<Capacity> => {
  for (let found = await climb(options); ; found = { ...found, perSecond: found.perSecond / confirmFactor }) {
    const { isBorne, p99Ms, told } = await step(options, found.perSecond, confirmedMs)
    options.progress(`${found.perSecond.toFixed(0)} requests/s for ${confirmedMs / 1000} seconds: ${told}`)
    if (isBorne || found.perSecond < first) return { ...found, p99Ms }
    await calm(options.place)
  }
}

/** The last step that was borne; one that is not gets a second chance, as the machine may have been busy with others. */
const climb = async (options: CalibrationOptions): Promise<Capacity> => {
  const { progress } = options
  let borne: Capacity = { perSecond: first, p99Ms: 0 }
  // What is not compiled yet bears little.
  await step(options, first, stepMs)
  for (let rate = first; rate <= most; rate *= factor) {
    let tried = await step(options, rate, stepMs)
    if (!tried.isBorne) tried = await step(options, rate, stepMs)
    progress(`${rate.toFixed(0)} requests/s: ${tried.told}`)
    if (!tried.isBorne) break
    borne = { perSecond: rate, p99Ms: tried.p99Ms }
  }
  return borne
}

interface Step {
  readonly isBorne: boolean
  readonly p99Ms: number
  readonly told: string
}

const step = async ({ place, ledger, seed }: CalibrationOptions, rate: number, lastsMs: number): Promise<Step> => {
  const latencies = new Latencies()
  const client = latencies.measured(makeClient(place, ledger, draws(seed)))
  const [skipped, waiting] = [ledger.skipped, await waitingIn(place)]
  const load = beginLoad(client, ledger, draws(seed + rate), rate)
  await sleep(lastsMs)
  const p99Ms = latencies.take().get("event")?.p99 ?? Number.POSITIVE_INFINITY
  const behind = (await waitingIn(place)) - waiting
  await load.stop()
  const shareSkipped = (ledger.skipped - skipped) / (rate * (lastsMs / 1000))
  // What is delayed by its client waits 8 seconds at most, and is 4 of 100; what its group holds up waits, too.
  const isBorne = p99Ms <= p99MsMost && shareSkipped <= shareSkippedMost && behind <= rate * behindSecondsMost
  const told = `p99 ${p99Ms.toFixed(0)} ms, ${behind} more deliveries wait${isBorne ? "" : ": too much"}`
  return { isBorne, p99Ms, told }
}

const waitingIn = async ({ ask }: Place): Promise<number> => {
  const [row] = await ask("SELECT count(*) AS n FROM deliveries")
  return Number(row?.n)
}

/** Until nothing is left of what was tried. */
export const calm = async ({ ask }: Place): Promise<void> => {
  for (let waited = 0; waited < 120_000; waited += 500) {
    const [row] = await ask(
      "SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM runs WHERE status = 'running') AS open"
    )
    if (Number(row?.open) === 0) return
    await sleep(500)
  }
}
