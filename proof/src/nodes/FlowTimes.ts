/** Checks of the sleeps of durable functions, and of their waits for events. */
import type { DurableRun, Flow, StoredResult } from "./FlowEvidence.ts"
import { fieldOf } from "./FlowEvidence.ts"
import type { Found, TimeFigures } from "./FlowFindings.ts"
import { childSleep, type PlannedSleep, type PlannedWait, sleeps, waits } from "./FlowGuest.ts"
import type { Fault, Ledger } from "./Ledger.ts"
import { overlaps } from "./TimeChecks.ts"

/** Maximum time from the end of a sleep to the next body without a fault, in milliseconds: 1 s, and a busy machine. */
const lateMsMax = 5_000

/** Time in milliseconds after a fault in which nodes may still reconnect. */
const reconnectMs = 10_000

/** Interval of the polls that find the work of dead nodes, in milliseconds. */
const pollMs = 30_000

export const checkTimes = (flows: ReadonlyArray<Flow>, ledger: Ledger, leaseMs: number, found: Found): TimeFigures => {
  const slept = flows.flatMap(({ plan, runs, children }) => [
    ...runs.flatMap((run) => sleeps.map((sleep) => ({ run, sleep, ms: plan.naps[sleep.name] ?? 0 }))),
    ...children.map((run) => ({ run, sleep: childSleep, ms: plan.naps[childSleep.name] ?? 0 }))
  ])
  const late = slept.flatMap((each) => checkSleep(each, ledger.faults, leaseMs, found) ?? [])
  const sorted = late.map(({ lateMs }) => lateMs).sort((a, b) => a - b)
  const undisturbed = late.filter(({ isDisturbed }) => !isDisturbed)
  const waited = flows.flatMap((flow) => waits.flatMap((wait) => checkWait(flow, wait, ledger, leaseMs, found) ?? []))
  return {
    sleeps: late.length,
    lateMsP99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    lateMsMax: sorted.at(-1) ?? 0,
    undisturbed: undisturbed.length,
    undisturbedLateMsMax: Math.max(0, ...undisturbed.map(({ lateMs }) => lateMs)),
    events: waited.filter((end) => end === "event").length,
    timeouts: waited.filter((end) => end === "timeout").length
  }
}

interface Slept {
  readonly run: DurableRun
  readonly sleep: PlannedSleep
  readonly ms: number
}

/** Checks a sleep by its record, and by the times at which the bodies before and after it began. */
const checkSleep = (
  { run: { run, results, executions }, sleep: { name, after, before }, ms }: Slept,
  faults: ReadonlyArray<Fault>,
  leaseMs: number,
  found: Found
): { readonly lateMs: number; readonly isDisturbed: boolean } | null => {
  const recorded = results.find((result) => result.kind === "sleep" && result.name === name)
  const preceding = findExecution(results.find((result) => result.name === after))
  const beganBefore = executions.find(({ execution }) => execution === preceding)?.began
  const next = executions.filter((each) => each.name === before).map(({ began }) => began)
  if (recorded === undefined || beganBefore === undefined || next.length === 0) return null
  const { started_at, ended_at } = recorded
  const wokenAt = Math.min(...next)
  const sample = `${run.run_id} ${name} of ${ms} ms: ${started_at} to ${ended_at}, next body at ${wokenAt}`
  // An activation that was lost may have slept before, but not before the body.
  if (ended_at < started_at + ms || wokenAt < beganBefore + ms) found("sleeps that ended early", sample)
  const { isLate, isDisturbed } = judge({ from: started_at, due: started_at + ms, to: wokenAt }, faults, leaseMs)
  if (isLate) found("sleeps that ended late", sample)
  return { lateMs: Math.max(0, wokenAt - started_at - ms), isDisturbed }
}

/** A wait in epoch milliseconds: its start, the time of its end, and when the function continued. */
interface Timer {
  readonly from: number
  readonly due: number
  readonly to: number
}

const judge = ({ from, due, to }: Timer, faults: ReadonlyArray<Fault>, leaseMs: number) => {
  const during = faults.filter((fault) => overlaps([fault], from, to, reconnectMs))
  const healedAt = Math.max(due, ...during.map((fault) => fault.to ?? Number.POSITIVE_INFINITY))
  // Another node detects the death of a node by its lease, and finds its work by a poll.
  const allowedMs = during.length === 0 ? lateMsMax : lateMsMax + leaseMs + pollMs
  return { isLate: to > healedAt + allowedMs, isDisturbed: during.length > 0 }
}

const findExecution = (result: StoredResult | undefined): unknown => fieldOf(result?.value, "execution")

const checkWait = (
  { runs, signals }: Flow,
  { name, after, timeoutMs }: PlannedWait,
  { acknowledged, faults }: Ledger,
  leaseMs: number,
  found: Found
): "event" | "timeout" | null => {
  const [only] = runs
  const recorded = only?.results.find((result) => result.kind === "event" && result.name === name)
  if (only === undefined || recorded === undefined) return null
  const { value, started_at, ended_at } = recorded
  const candidates = signals.filter(({ data, created_at }) => data.name === name && created_at >= started_at)
  const sample = `${only.run.run_id} ${name}: ${JSON.stringify({ ...recorded, candidates })}`
  if (value !== null) {
    const id = fieldOf(value, "event_id")
    if (!candidates.some(({ event_id }) => event_id === id)) found("waits that received another event", sample)
    return "event"
  }
  // The wait began after these results. `started_at` may be earlier: with `since`, events before the wait count.
  const preceding = only.results.filter((result) => after.includes(result.name))
  const endsAfter = Math.max(started_at, ...preceding.map((result) => result.ended_at)) + timeoutMs
  if (ended_at < endsAfter) found("waits that ended before their timeout", sample)
  // The wait may have begun later only if its activation was lost in between.
  const timer = { from: endsAfter - timeoutMs, due: endsAfter, to: ended_at }
  if (judge(timer, faults, leaseMs).isLate) found("waits that ended late after their timeout", sample)
  const isLost = candidates.some(({ event_id }) => {
    const at = acknowledged.get(event_id)?.at
    return at !== undefined && at <= endsAfter
  })
  if (isLost) found("waits that lost their event", sample)
  return "timeout"
}
