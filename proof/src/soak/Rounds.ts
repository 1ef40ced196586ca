/** The load, in rounds. Each round is checked when all of its work has ended, so a soak can have any duration. */
import { setTimeout as sleep } from "node:timers/promises"
import { draws } from "@weft/tooling/draws"
import { type Client, makeClient } from "../nodes/Client.ts"
import { watchEnv } from "../nodes/EnvWatcher.ts"
import { type Evidence, gather, type StoredEvent } from "../nodes/Evidence.ts"
import type { Findings } from "../nodes/Findings.ts"
import { type Fault, Ledger } from "../nodes/Ledger.ts"
import { beginLoad } from "../nodes/Load.ts"
import { checkRuns } from "../nodes/RunChecks.ts"
import { watchStreams } from "../nodes/StreamWatcher.ts"
import { checkFailures, checkTicks, checkWatchers } from "../nodes/TimeChecks.ts"
import type { Latencies } from "./Latencies.ts"
import type { SoakTarget } from "./SoakTarget.ts"

export interface RoundOptions {
  readonly target: SoakTarget
  readonly envId: string
  readonly latencies: Latencies
  readonly findings: Findings
  /** Requests per second. */
  readonly rate: number
  readonly seed: number
  /** Stalls of the machine, read when the round is checked. */
  readonly stalls: ReadonlyArray<Fault>
}

/** Sums over all rounds. */
export interface Totals {
  rounds: number
  acknowledged: number
  unknown: number
  skipped: number
  events: number
  runs: number
  succeeded: number
  failedAsPlanned: number
  ticks: number
  /** Ticks that fired as one because the machine stalled. */
  ticksMerged: number
  streamsFollowed: number
  messagesExpected: number
  /** Maximum time until all work of a round had ended. */
  settledMsMax: number
}

export const emptyTotals = (): Totals => ({
  rounds: 0,
  acknowledged: 0,
  unknown: 0,
  skipped: 0,
  events: 0,
  runs: 0,
  succeeded: 0,
  failedAsPlanned: 0,
  ticks: 0,
  ticksMerged: 0,
  streamsFollowed: 0,
  messagesExpected: 0,
  settledMsMax: 0
})

/** Pause between two rounds, in milliseconds, so that each event belongs to one round. */
const pauseMs = 2_000

/** Maximum time in which the work of a round ends, in milliseconds. */
const settleWithinMs = 120_000

interface Sent {
  readonly ledger: Ledger
  readonly from: number
  readonly to: number
  readonly check: () => Promise<void>
}

/** Sends one round. Its `check` may run while the next round is sent. */
export const sendRound = async (
  options: RoundOptions,
  after: number,
  lastsMs: number,
  totals: Totals
): Promise<Sent> => {
  const { target, latencies, rate, seed } = options
  const ledger = new Ledger(after)
  const client: Client = latencies.measure(makeClient(target, ledger, draws(seed)))
  const watcher = await watchEnv(client, ledger, draws(seed + 1), target.key)
  const from = Date.now()
  const streams = watchStreams(client, ledger, draws(seed + 2), target.key, 2)
  const load = beginLoad(client, ledger, draws(seed + 3), rate)
  await sleep(lastsMs)
  await Promise.all([load.stop(), streams.stop()])
  const to = Date.now()
  await sleep(pauseMs)
  const check = async (): Promise<void> => {
    const { evidence, tookMs } = await settled(options, ledger, from, to)
    await watcher.stop()
    totals.settledMsMax = Math.max(totals.settledMsMax, tookMs)
    const { findings } = options
    checkRuns(evidence, ledger, findings)
    const ticks = checkTicks(evidence, options.stalls, { from, to }, findings)
    checkFailures(ledger, findings)
    for (const id of streams.missed) findings.add("streams whose subscriber did not receive the end", id)
    totals.messagesExpected += checkWatchers(evidence, [watcher], to, findings)
    totals.rounds++
    totals.streamsFollowed += streams.ended()
    totals.acknowledged += [...ledger.answered.values()].reduce((sum, count) => sum + count, 0)
    totals.unknown += ledger.unknown
    totals.skipped += ledger.skipped
    totals.events += evidence.events.size
    totals.runs += evidence.runs.length
    totals.succeeded += evidence.runs.filter(({ status }) => status === "succeeded").length
    totals.failedAsPlanned += evidence.runs.filter(({ status }) => status === "failed").length
    totals.ticks += ticks.fired
    totals.ticksMerged += ticks.merged
  }
  return { ledger, from, to, check }
}

/** Selects the events of a round, the ticks that were due in it or that it scheduled, and the runs of all of them. */
const selectRound = (all: Evidence, { acknowledged }: Ledger, to: number): Evidence => {
  const before = minIdAt(to + pauseMs)
  const isInRound = ({ event_id, event_type, data }: StoredEvent): boolean =>
    event_type === "svc:schedule"
      ? Date.parse(String(data.scheduled_time)) < to || acknowledged.has(String(data.schedule_id))
      : event_id < before
  const events = new Map([...all.events].filter(([, event]) => isInRound(event)))
  const runs = all.runs.filter(({ event_id, run_id }) => (event_id === null ? run_id < before : events.has(event_id)))
  const ofEvents = runs.filter((run) => run.event_id !== null)
  return { events, runs, runsOfEvent: Map.groupBy(ofEvents, (run) => run.event_id ?? "") }
}

/** Returns the smallest prefix of ids of an instant. */
const minIdAt = (instant: number): string => {
  const time = instant.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

interface Settled {
  readonly evidence: Evidence
  /** Time since the last request, in milliseconds. */
  readonly tookMs: number
}

/** Waits until all work of the round has ended. */
const settled = async (
  { target: { query }, envId, findings }: RoundOptions,
  ledger: Ledger,
  from: number,
  to: number
): Promise<Settled> => {
  const readPending = async (): Promise<ReadonlyArray<string>> =>
    (await query("SELECT event_id FROM deliveries WHERE env_id = $1", [envId])).map((row) => String(row.event_id))
  const [first, last] = [minIdAt(from - 1), minIdAt(to + pauseMs)]
  for (; ; await sleep(1_000)) {
    const tookMs = Date.now() - to
    const isTimedOut = tookMs > settleWithinMs
    const [later] = await query(
      "SELECT count(*) AS n FROM schedules WHERE env_id = $1 AND cron IS NULL AND schedule_id > $2 AND schedule_id < $3",
      [envId, first, last]
    )
    // Read twice, because a delivery may become a run meanwhile, and a failed run a delivery.
    const pendingBefore = await readPending()
    const isPending = Number(later?.n) > 0 || pendingBefore.some((id) => id > first && id < last)
    if (isPending && !isTimedOut) continue
    const extent = { envId, after: first, before: minIdAt(Date.now() + 1_000) }
    const evidence = selectRound(await gather(query, extent), ledger, to)
    const pending = new Set([...pendingBefore, ...(await readPending())].filter((id) => evidence.events.has(id)))
    const running = evidence.runs.filter(({ status }) => status === "running").length
    const open = Number(later?.n) + pending.size + running
    if (open > 0 && !isTimedOut) continue
    if (open > 0) {
      findings.add(
        "deliveries still queued",
        `${pending.size} pending, ${running} running, ${later?.n} schedules`,
        open
      )
    }
    return { evidence, tookMs }
  }
}
