/** Whether schedules fired when they had to, watchers were told everything, and nobody was refused without need. */
import type { EnvWatcher } from "./EnvWatcher.ts"
import type { Evidence } from "./Evidence.ts"
import type { Findings } from "./Findings.ts"
import { tickSeconds } from "./Guest.ts"
import type { Fault, Ledger } from "./Ledger.ts"

export const timeFindings = [
  "ticks that fired twice",
  "ticks that did not fire though all was well",
  "facts that a watcher was not told",
  "streams whose watcher was not told of the end",
  "refusals that no client may see",
  "troubles of clients though all was well",
  "nodes that ended by themselves, or not as they must",
  "memory of nodes beyond its bound"
] as const
type TimeFinding = (typeof timeFindings)[number]

export interface Period {
  /** Epoch milliseconds. */
  readonly from: number
  readonly to: number
}

/** Time for everybody to find out that it is over. */
const afterFaultMs = 30_000

const overlaps = (faults: ReadonlyArray<Fault>, from: number, to: number, graceMs: number): boolean =>
  faults.some((fault) => fault.from <= to && (fault.to ?? Number.POSITIVE_INFINITY) + graceMs >= from)

export interface TickFigures {
  readonly fired: number
  /** Passed over for a later one while something was wrong: those that were missed fire as one. */
  readonly joined: number
}

export const checkTicks = (
  evidence: Evidence,
  faults: ReadonlyArray<Fault>,
  period: Period,
  findings: Findings
): TickFigures => {
  const found = (what: TimeFinding, sample: string): void => findings.add(what, sample)
  const ticks = [...evidence.events.values()].filter((event) => event.event_type === "svc:schedule")
  const counted = new Map<string, number>()
  for (const { data } of ticks) {
    const id = `${data.schedule_id} at ${data.scheduled_time}`
    counted.set(id, (counted.get(id) ?? 0) + 1)
  }
  for (const [id, count] of counted) if (count > 1) found("ticks that fired twice", `${id}: ${count} times`)

  const stepMs = tickSeconds * 1000
  const times = new Set(
    ticks.filter(({ data }) => data.fn === "main/tick").map(({ data }) => Date.parse(String(data.scheduled_time)))
  )
  let joined = 0
  for (let at = Math.ceil(period.from / stepMs) * stepMs; at < period.to; at += stepMs) {
    if (times.has(at)) continue
    if (overlaps(faults, at, at + stepMs, afterFaultMs)) joined++
    else found("ticks that did not fire though all was well", new Date(at).toISOString())
  }
  return { fired: times.size, joined }
}

/** Facts are told soon; those at the edges may belong to neither side. */
const edgeMs = 5_000

interface Fact {
  readonly id: string
  readonly at: number
  readonly what: string
}

const factsOf = ({ events, runs }: Evidence): ReadonlyArray<Fact> =>
  [
    ...[...events.values()].map((event) => ({ id: event.event_id, at: event.created_at, what: event.event_type })),
    ...runs.flatMap(({ run_id, stop_time, status, var: name, error }) =>
      stop_time === null ? [] : [{ id: run_id, at: stop_time, what: `${status} run of ${name} ${error ?? ""}` }]
    )
  ].sort((a, b) => a.at - b.at)

/** Facts that were missed one soon after the other are told of together. */
const burstMs = 2_000

export const checkWatchers = (
  evidence: Evidence,
  watchers: ReadonlyArray<EnvWatcher>,
  until: number,
  findings: Findings
): number => {
  const facts = factsOf(evidence)
  let count = 0
  watchers.forEach((watcher, index) => {
    const from = watcher.since() + edgeMs
    const due = facts.filter(({ at }) => at >= from && at <= until)
    count += due.length
    const bursts: Array<Array<Fact>> = []
    for (const fact of due.filter(({ id }) => !watcher.seen.has(id))) {
      const last = bursts.at(-1)
      if (last !== undefined && fact.at - (last.at(-1)?.at ?? 0) < burstMs) last.push(fact)
      else bursts.push([fact])
    }
    for (const burst of bursts) tellBurst(`watcher ${index + 1}`, watcher, burst, findings)
  })
  return count
}

const tellBurst = (name: string, { stays }: EnvWatcher, burst: ReadonlyArray<Fact>, findings: Findings): void => {
  const time = (at: number): string => new Date(at).toISOString().slice(11, 23)
  const [first, last] = [burst[0], burst.at(-1)]
  if (first === undefined || last === undefined) return
  const near = stays
    .filter(({ from, to }) => from < last.at + 5_000 && to > first.at - 5_000)
    .map(
      ({ slot, from, begun, to }) => `${slot} ${time(from)} (${begun === null ? "never" : begun - from}) to ${time(to)}`
    )
  const what: TimeFinding = "facts that a watcher was not told"
  const told = `${burst.length} from ${time(first.at)} to ${time(last.at)}, the first ${first.id} ${first.what}`
  findings.add(what, `${name}: ${told}; it was at ${near.join(", ")}`, burst.length)
}

export const checkTroubles = ({ troubles, faults }: Ledger, findings: Findings): void => {
  for (const { from, to, what, isExpected } of troubles) {
    const at = new Date(from).toISOString()
    const refusal: TimeFinding = "refusals that no client may see"
    const needless: TimeFinding = "troubles of clients though all was well"
    if (!isExpected) findings.add(refusal, `${at} ${what}`)
    else if (!overlaps(faults, from, to, afterFaultMs)) findings.add(needless, `${at} ${what}`)
  }
}
