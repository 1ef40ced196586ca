/** The load, in rounds of which each is judged when all of it has ended: so it may go on for as long as one likes. */
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
import { checkTicks, checkTroubles, checkWatchers } from "../nodes/TimeChecks.ts"
import type { Latencies } from "./Latencies.ts"
import type { Place } from "./Place.ts"

export interface RoundOptions {
  readonly place: Place
  readonly envId: string
  readonly latencies: Latencies
  readonly findings: Findings
  /** Requests in a second. */
  readonly rate: number
  readonly seed: number
  /** Read when the round is judged. */
  readonly stalls: ReadonlyArray<Fault>
}

/** Sums over all rounds. */
export interface Tally {
  rounds: number
  acknowledged: number
  unknown: number
  skipped: number
  events: number
  runs: number
  succeeded: number
  failedAsPlanned: number
  ticks: number
  /** Passed over for a later one, as the machine stood still. */
  ticksJoined: number
  streamsFollowed: number
  factsWatched: number
  /** Of any round, until all of it had ended. */
  settledMsMost: number
}

export const emptyTally = (): Tally => ({
  rounds: 0,
  acknowledged: 0,
  unknown: 0,
  skipped: 0,
  events: 0,
  runs: 0,
  succeeded: 0,
  failedAsPlanned: 0,
  ticks: 0,
  ticksJoined: 0,
  streamsFollowed: 0,
  factsWatched: 0,
  settledMsMost: 0
})

/** Between two rounds nothing is sent, so that each event belongs to one of them. */
const lullMs = 2_000

/** How long all of a round may take to end after its last request. */
const patienceMs = 120_000

interface Sent {
  readonly ledger: Ledger
  readonly from: number
  readonly to: number
  readonly judge: () => Promise<void>
}

/** Sends one round; what it gives judges it, for which the next one need not wait. */
export const sendRound = async (options: RoundOptions, after: number, lastsMs: number, tally: Tally): Promise<Sent> => {
  const { place, latencies, rate, seed } = options
  const ledger = new Ledger(after)
  const client: Client = latencies.measured(makeClient(place, ledger, draws(seed)))
  const watcher = await watchEnv(client, ledger, draws(seed + 1), place.key)
  const from = Date.now()
  const streams = watchStreams(client, ledger, draws(seed + 2), place.key, 2)
  const load = beginLoad(client, ledger, draws(seed + 3), rate)
  await sleep(lastsMs)
  await Promise.all([load.stop(), streams.stop()])
  const to = Date.now()
  await sleep(lullMs)
  const judge = async (): Promise<void> => {
    const { evidence, tookMs } = await settled(options, ledger, from, to)
    await watcher.stop()
    tally.settledMsMost = Math.max(tally.settledMsMost, tookMs)
    const { findings } = options
    checkRuns(evidence, ledger, findings)
    const ticks = checkTicks(evidence, options.stalls, { from, to }, findings)
    checkTroubles(ledger, findings)
    for (const id of streams.missed) findings.add("streams whose watcher was not told of the end", id)
    tally.factsWatched += checkWatchers(evidence, [watcher], to, findings)
    tally.rounds++
    tally.streamsFollowed += streams.told()
    tally.acknowledged += [...ledger.answered.values()].reduce((sum, count) => sum + count, 0)
    tally.unknown += ledger.unknown
    tally.skipped += ledger.skipped
    tally.events += evidence.events.size
    tally.runs += evidence.runs.length
    tally.succeeded += evidence.runs.filter(({ status }) => status === "succeeded").length
    tally.failedAsPlanned += evidence.runs.filter(({ status }) => status === "failed").length
    tally.ticks += ticks.fired
    tally.ticksJoined += ticks.joined
  }
  return { ledger, from, to, judge }
}

/** Events up to then, ticks of before or of what the round asked for, and the runs of all of them, however late. */
const ofRound = (all: Evidence, { acknowledged }: Ledger, to: number): Evidence => {
  const before = leastIdAt(to + lullMs)
  const isOf = ({ event_id, event_type, data }: StoredEvent): boolean =>
    event_type === "svc:schedule"
      ? Date.parse(String(data.scheduled_time)) < to || acknowledged.has(String(data.schedule_id))
      : event_id < before
  const events = new Map([...all.events].filter(([, event]) => isOf(event)))
  const runs = all.runs.filter(({ event_id, run_id }) => (event_id === null ? run_id < before : events.has(event_id)))
  const ofEvents = runs.filter((run) => run.event_id !== null)
  return { events, runs, runsOfEvent: Map.groupBy(ofEvents, (run) => run.event_id ?? "") }
}

/** As ids of that instant begin. */
const leastIdAt = (instant: number): string => {
  const time = instant.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

interface Settled {
  readonly evidence: Evidence
  /** Since the last request, in milliseconds. */
  readonly tookMs: number
}

/** Until nothing of what was begun in the round waits or runs. */
const settled = async (
  { place: { ask }, envId, findings }: RoundOptions,
  ledger: Ledger,
  from: number,
  to: number
): Promise<Settled> => {
  const waitingOf = async (): Promise<ReadonlyArray<string>> =>
    (await ask("SELECT event_id FROM deliveries WHERE env_id = $1", [envId])).map((row) => String(row.event_id))
  const [first, last] = [leastIdAt(from - 1), leastIdAt(to + lullMs)]
  for (; ; await sleep(1_000)) {
    const tookMs = Date.now() - to
    const isOver = tookMs > patienceMs
    const [later] = await ask(
      "SELECT count(*) AS n FROM schedules WHERE env_id = $1 AND cron IS NULL AND schedule_id > $2 AND schedule_id < $3",
      [envId, first, last]
    )
    // Before and after, as a delivery may become a run meanwhile, and a run that failed a delivery.
    const waitedBefore = await waitingOf()
    const isEarly = Number(later?.n) > 0 || waitedBefore.some((id) => id > first && id < last)
    if (isEarly && !isOver) continue
    const extent = { envId, after: first, before: leastIdAt(Date.now() + 1_000) }
    const evidence = ofRound(await gather(ask, extent), ledger, to)
    const waiting = new Set([...waitedBefore, ...(await waitingOf())].filter((id) => evidence.events.has(id)))
    const running = evidence.runs.filter(({ status }) => status === "running").length
    const open = Number(later?.n) + waiting.size + running
    if (open > 0 && !isOver) continue
    if (open > 0) {
      findings.add("deliveries left in the queue", `${waiting.size} wait, ${running} run, ${later?.n} schedules`, open)
    }
    return { evidence, tookMs }
  }
}
