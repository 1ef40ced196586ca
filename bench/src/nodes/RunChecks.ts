/** Whether everything that was acknowledged is there and ended as it must, once. */
import { type Evidence, type Expected, expectedOf, type StoredEvent, type StoredRun } from "./Evidence.ts"
import type { Findings } from "./Findings.ts"
import { groupLimit, planned } from "./Guest.ts"
import type { Ledger } from "./Ledger.ts"

export const runFindings = [
  "acknowledged events that are gone",
  "acknowledged webhooks without their one run",
  "events that are there twice",
  "deliveries that did not end as they must",
  "deliveries that succeeded twice",
  "attempts other than the retry policy says",
  "runs that failed for a reason of ours",
  "events for one idempotent handler that it did not run for once",
  "schedules for one time that did not fire once",
  "runs of a group beyond its limit",
  "runs that are still running",
  "deliveries left in the queue"
] as const
type RunFinding = (typeof runFindings)[number]

/** What came after `until`, an instant in epoch milliseconds, may still be under way: ticks of schedules go on. */
export const checkRuns = (
  evidence: Evidence,
  ledger: Ledger,
  findings: Findings,
  until = Number.POSITIVE_INFINITY
): void => {
  const found = (what: RunFinding, sample: string): void => findings.add(what, sample)
  for (const [eventId, { kind, n }] of ledger.acknowledged) {
    if (!evidence.events.has(eventId)) found("acknowledged events that are gone", `${eventId} (${kind} ${n})`)
  }
  for (const event of evidence.events.values()) if (event.created_at <= until) checkEvent(evidence, event, found)
  checkNumbers(evidence, found)
  checkHooks(evidence, ledger, found)
  checkOnce(evidence, found)
  checkLater(evidence, ledger, found)
  checkGroups(evidence, found)
}

type Found = (what: RunFinding, sample: string) => void

/** Node and run are gone, which is nobody's fault and no attempt. */
const isLost = (run: StoredRun): boolean => run.error?.startsWith("NodeLost") === true

const isPlanned = (run: StoredRun): boolean => run.error === `Error: ${planned}`

const checkEvent = ({ runsOfEvent }: Evidence, event: StoredEvent, found: Found): void => {
  const runs = runsOfEvent.get(event.event_id) ?? []
  for (const run of runs) {
    if (run.status === "succeeded" || isLost(run) || isPlanned(run)) continue
    if (run.status !== "running")
      found("runs that failed for a reason of ours", `${run.run_id} ${run.var} ${run.error}`)
  }
  for (const expected of expectedOf(event)) {
    checkDelivery(
      event,
      expected,
      runs.filter((run) => run.var === expected.fn),
      found
    )
  }
}

const checkDelivery = (
  { event_id, event_type }: StoredEvent,
  { fn, failures, succeeds }: Expected,
  runs: ReadonlyArray<StoredRun>,
  found: Found
): void => {
  const told = `${event_type} ${event_id} ${fn}: ${runs.map((run) => `${run.attempt} ${run.status}`).join(", ")}`
  const succeeded = runs.filter((run) => run.status === "succeeded")
  const failed = runs.filter(isPlanned)
  if (succeeded.length > 1) found("deliveries that succeeded twice", told)
  if (succeeded.length > 0 !== succeeds || failed.length < failures) {
    found("deliveries that did not end as they must", told)
  }
  const attempts = failed.map((run) => run.attempt).sort((a, b) => a - b)
  const isRight =
    attempts.every((attempt, index) => attempt === index + 1) &&
    attempts.length <= failures &&
    succeeded.every((run) => run.attempt === failures + 1)
  if (!isRight) found("attempts other than the retry policy says", told)
}

const checkNumbers = ({ events }: Evidence, found: Found): void => {
  const byNumber = new Map<number, string>()
  for (const { event_id, event_type, data } of events.values()) {
    // A one-time schedule and its tick have the same number.
    if (event_type === "svc:schedule") continue
    const args = Array.isArray(data.args) ? data.args : []
    const n = Number(data.n ?? args[0])
    const other = byNumber.get(n)
    if (other !== undefined) found("events that are there twice", `${n}: ${other} and ${event_id}`)
    byNumber.set(n, event_id)
  }
}

const checkHooks = ({ runs }: Evidence, { hooks }: Ledger, found: Found): void => {
  const counted = new Map<number, number>()
  for (const run of runs) {
    if (run.var === "hook" && run.status === "succeeded") {
      const n = bodyNumber(run.result)
      counted.set(n, (counted.get(n) ?? 0) + 1)
    }
  }
  for (const n of hooks) {
    if (counted.get(n) !== 1) found("acknowledged webhooks without their one run", `${n}: ${counted.get(n) ?? 0}`)
  }
}

/** A webhook's result is what it returned, or the response made of it. */
const bodyNumber = (result: Readonly<Record<string, unknown>>): number => {
  const { body = result } = result
  return typeof body === "object" && body !== null && "n" in body ? Number(body.n) : Number.NaN
}

const checkOnce = ({ events, runsOfEvent }: Evidence, found: Found): void => {
  const twins = Map.groupBy(
    [...events.values()].filter((event) => event.event_type === "chaos:once"),
    (event) => String(event.data.value)
  )
  for (const [value, both] of twins) {
    const runs = both.flatMap((event) => runsOfEvent.get(event.event_id) ?? [])
    const succeeded = runs.filter((run) => run.status === "succeeded").length
    if (succeeded !== 1)
      found("events for one idempotent handler that it did not run for once", `${value}: ${succeeded}`)
  }
}

/** A schedule's id is that of the event which made it. */
const checkLater = ({ events, runsOfEvent }: Evidence, { acknowledged }: Ledger, found: Found): void => {
  const ticks = Map.groupBy(
    [...events.values()].filter((event) => event.event_type === "svc:schedule"),
    (event) => String(event.data.schedule_id)
  )
  for (const [eventId, { kind, n }] of acknowledged) {
    if (kind !== "later") continue
    const fired = ticks.get(eventId) ?? []
    const succeeded = fired.flatMap((tick) => runsOfEvent.get(tick.event_id) ?? []).filter((run) => run.result.n === n)
    if (fired.length !== 1 || succeeded.length !== 1) {
      found(
        "schedules for one time that did not fire once",
        `${eventId}: ${fired.length} ticks, ${succeeded.length} runs`
      )
    }
  }
}

/**
 * By what the functions themselves saw of the time, of runs that count: one whose node was given up may go on without
 * knowing, which is what "at least once" means.
 */
const checkGroups = ({ runs }: Evidence, found: Found): void => {
  const byKey = Map.groupBy(
    runs.filter((run) => run.var === "grouped" && run.status === "succeeded"),
    (run) => String(run.result.key)
  )
  for (const [key, members] of byKey) {
    const edges = members
      .flatMap((run) => [
        { at: Number(run.result.began), step: 1, run },
        { at: Number(run.result.ended), step: -1, run }
      ])
      .sort((a, b) => a.at - b.at || a.step - b.step)
    let running = 0
    for (const { step, run, at } of edges) {
      running += step
      if (step > 0 && running > groupLimit) {
        found("runs of a group beyond its limit", `${key}: ${running} at ${new Date(at).toISOString()} (${run.run_id})`)
      }
    }
  }
}
