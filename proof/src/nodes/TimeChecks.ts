/** Checks that schedules fired on time, watchers received everything, and requests failed only during faults. */
import type { EnvWatcher } from "./EnvWatcher.ts"
import type { Evidence } from "./Evidence.ts"
import type { Findings } from "./Findings.ts"
import { tickSeconds } from "./Guest.ts"
import type { Fault, Ledger } from "./Ledger.ts"

export const timeFindings = [
  "ticks that fired twice",
  "missing ticks outside of faults",
  "messages that a watcher did not receive",
  "streams whose subscriber did not receive the end",
  "error responses that clients must not get",
  "request failures outside of faults",
  "unexpected exits of nodes",
  "node memory above its limit"
] as const
type TimeFinding = (typeof timeFindings)[number]

export interface Period {
  /** Epoch milliseconds. */
  readonly from: number
  readonly to: number
}

/** Recovery time after a fault, in milliseconds. */
const recoveryMs = 30_000

export const overlaps = (faults: ReadonlyArray<Fault>, from: number, to: number, graceMs: number): boolean =>
  faults.some((fault) => fault.from <= to && (fault.to ?? Number.POSITIVE_INFINITY) + graceMs >= from)

export interface TickFigures {
  readonly fired: number
  /** Ticks that a fault delayed and that fired as one. */
  readonly merged: number
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
  let merged = 0
  for (let at = Math.ceil(period.from / stepMs) * stepMs; at < period.to; at += stepMs) {
    if (times.has(at)) continue
    if (overlaps(faults, at, at + stepMs, recoveryMs)) merged++
    else found("missing ticks outside of faults", new Date(at).toISOString())
  }
  return { fired: times.size, merged }
}

/** Margin at the start of a subscription, in milliseconds, in which messages may be missing. */
const edgeMs = 5_000

interface Activity {
  readonly id: string
  readonly at: number
  readonly what: string
}

const listActivity = ({ events, runs }: Evidence): ReadonlyArray<Activity> =>
  [
    ...[...events.values()].map((event) => ({ id: event.event_id, at: event.created_at, what: event.event_type })),
    ...runs.flatMap(({ run_id, stop_time, status, var: name, error }) =>
      stop_time === null ? [] : [{ id: run_id, at: stop_time, what: `${status} run of ${name} ${error ?? ""}` }]
    )
  ].sort((a, b) => a.at - b.at)

/** Maximum interval within a burst of missing messages, in milliseconds; a burst is one example. */
const burstMs = 2_000

export const checkWatchers = (
  evidence: Evidence,
  watchers: ReadonlyArray<EnvWatcher>,
  until: number,
  findings: Findings
): number => {
  const activity = listActivity(evidence)
  let count = 0
  watchers.forEach((watcher, index) => {
    const from = watcher.since() + edgeMs
    const due = activity.filter(({ at }) => at >= from && at <= until)
    count += due.length
    const bursts: Array<Array<Activity>> = []
    for (const fact of due.filter(({ id }) => !watcher.seen.has(id))) {
      const last = bursts.at(-1)
      if (last !== undefined && fact.at - (last.at(-1)?.at ?? 0) < burstMs) last.push(fact)
      else bursts.push([fact])
    }
    for (const burst of bursts) addBurst(`watcher ${index + 1}`, watcher, burst, findings)
  })
  return count
}

const addBurst = (
  name: string,
  { connections }: EnvWatcher,
  burst: ReadonlyArray<Activity>,
  findings: Findings
): void => {
  const time = (at: number): string => new Date(at).toISOString().slice(11, 23)
  const [first, last] = [burst[0], burst.at(-1)]
  if (first === undefined || last === undefined) return
  const near = connections
    .filter(({ from, to }) => from < last.at + 5_000 && to > first.at - 5_000)
    .map(
      ({ slot, from, begun, to }) => `${slot} ${time(from)} (${begun === null ? "never" : begun - from}) to ${time(to)}`
    )
  const what: TimeFinding = "messages that a watcher did not receive"
  const sample = `${burst.length} from ${time(first.at)} to ${time(last.at)}, the first ${first.id} ${first.what}`
  findings.add(what, `${name}: ${sample}; connections: ${near.join(", ")}`, burst.length)
}

export const checkFailures = ({ failures, faults }: Ledger, findings: Findings): void => {
  for (const { from, to, what, isExpected } of failures) {
    const at = new Date(from).toISOString()
    const forbidden: TimeFinding = "error responses that clients must not get"
    const outside: TimeFinding = "request failures outside of faults"
    if (!isExpected) findings.add(forbidden, `${at} ${what}`)
    else if (!overlaps(faults, from, to, recoveryMs)) findings.add(outside, `${at} ${what}`)
  }
}
