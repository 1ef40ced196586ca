/** Checks that every acknowledged request is stored and had its expected outcome once. */
import { type Evidence, type Expected, listExpected, type StoredEvent, type StoredRun } from "./Evidence.ts"
import type { Findings } from "./Findings.ts"
import { flowOfCall } from "./FlowEvidence.ts"
import { bodyType } from "./FlowGuest.ts"
import { groupLimit, planned } from "./Guest.ts"
import type { Ledger } from "./Ledger.ts"

export const runFindings = [
  "acknowledged events that are missing",
  "acknowledged webhooks without exactly one run",
  "duplicate events",
  "deliveries with an unexpected outcome",
  "deliveries that succeeded twice",
  "attempts that differ from the retry policy",
  "runs with an unplanned failure",
  "idempotency keys without exactly one run",
  "one-time schedules that did not fire exactly once",
  "concurrent runs above the limit of their group",
  "runs that are still running",
  "deliveries still queued"
] as const
type RunFinding = (typeof runFindings)[number]

/** Checks all runs. Work that began after `until` (epoch milliseconds) may be unfinished, because schedules keep firing. */
export const checkRuns = (
  evidence: Evidence,
  ledger: Ledger,
  findings: Findings,
  until = Number.POSITIVE_INFINITY
): void => {
  const found = (what: RunFinding, sample: string): void => findings.add(what, sample)
  for (const [eventId, { kind, n }] of ledger.acknowledged) {
    if (!evidence.events.has(eventId)) found("acknowledged events that are missing", `${eventId} (${kind} ${n})`)
  }
  for (const event of evidence.events.values()) if (event.created_at <= until) checkEvent(evidence, event, found)
  checkNumbers(evidence, found)
  checkHooks(evidence, ledger, found)
  checkOnce(evidence, found)
  checkLater(evidence, ledger, found)
  checkGroups(evidence, found)
}

type Found = (what: RunFinding, sample: string) => void

/** True if the run was lost with its node, which does not count as an attempt. */
const isLost = (run: StoredRun): boolean => run.error?.startsWith("NodeLost") === true

const isPlanned = (run: StoredRun): boolean => run.error === `Error: ${planned}`

const checkEvent = ({ runsOfEvent }: Evidence, event: StoredEvent, found: Found): void => {
  const runs = runsOfEvent.get(event.event_id) ?? []
  for (const run of runs) {
    if (run.status === "succeeded" || isLost(run) || isPlanned(run)) continue
    if (run.status !== "running") found("runs with an unplanned failure", `${run.run_id} ${run.var} ${run.error}`)
  }
  for (const expected of listExpected(event)) {
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
  const sample = `${event_type} ${event_id} ${fn}: ${runs.map((run) => `${run.attempt} ${run.status}`).join(", ")}`
  const succeeded = runs.filter((run) => run.status === "succeeded")
  const failed = runs.filter(isPlanned)
  if (succeeded.length > 1) found("deliveries that succeeded twice", sample)
  if (succeeded.length > 0 !== succeeds || failed.length < failures) {
    found("deliveries with an unexpected outcome", sample)
  }
  const attempts = failed.map((run) => run.attempt).sort((a, b) => a - b)
  const isRight =
    attempts.every((attempt, index) => attempt === index + 1) &&
    attempts.length <= failures &&
    succeeded.every((run) => run.attempt === failures + 1)
  if (!isRight) found("attempts that differ from the retry policy", sample)
}

const checkNumbers = ({ events }: Evidence, found: Found): void => {
  const byNumber = new Map<number, string>()
  for (const event of events.values()) {
    const { event_id, event_type, data } = event
    // A one-time schedule and its tick have the same number. Events of functions have none.
    if (event_type === "svc:schedule" || event_type === bodyType || flowOfCall(event) !== undefined) continue
    const args = Array.isArray(data.args) ? data.args : []
    const n = Number(data.n ?? args[0])
    const other = byNumber.get(n)
    if (other !== undefined) found("duplicate events", `${n}: ${other} and ${event_id}`)
    byNumber.set(n, event_id)
  }
}

const checkHooks = ({ runs }: Evidence, { hooks }: Ledger, found: Found): void => {
  const counted = new Map<number, number>()
  for (const run of runs) {
    if (run.var === "hook" && run.status === "succeeded") {
      const n = readNumber(run.result)
      counted.set(n, (counted.get(n) ?? 0) + 1)
    }
  }
  for (const n of hooks) {
    if (counted.get(n) !== 1) found("acknowledged webhooks without exactly one run", `${n}: ${counted.get(n) ?? 0}`)
  }
}

/** Reads the number from a webhook's result: its return value, or the response built from it. */
const readNumber = (result: Readonly<Record<string, unknown>>): number => {
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
    if (succeeded !== 1) found("idempotency keys without exactly one run", `${value}: ${succeeded}`)
  }
}

/** Checks one-time schedules. The id of a schedule is the id of the event that created it. */
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
        "one-time schedules that did not fire exactly once",
        `${eventId}: ${fired.length} ticks, ${succeeded.length} runs`
      )
    }
  }
}

/**
 * Checks group limits by the times that the functions recorded. Only successful runs count, because a run of a node that
 * was declared dead may continue ("at least once").
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
        found(
          "concurrent runs above the limit of their group",
          `${key}: ${running} at ${new Date(at).toISOString()} (${run.run_id})`
        )
      }
    }
  }
}
