/** The checks of nodes with faults find every kind of violation. */
import { describe, expect, it } from "vitest"
import type { Evidence, StoredEvent, StoredRun } from "../src/nodes/Evidence.ts"
import { Findings } from "../src/nodes/Findings.ts"
import { groupLimit, tickSeconds } from "../src/nodes/Guest.ts"
import { Ledger } from "../src/nodes/Ledger.ts"
import { checkRuns, runFindings } from "../src/nodes/RunChecks.ts"
import { checkFailures, checkTicks, checkWatchers, timeFindings } from "../src/nodes/TimeChecks.ts"

const event = (event_id: string, event_type: string, data: StoredEvent["data"]): StoredEvent => ({
  event_id,
  event_type,
  data,
  created_at: 0
})
let runs = 0
const run = (event_id: string | null, fn: string, more: Partial<StoredRun> = {}): StoredRun => ({
  run_id: `run-${++runs}`,
  event_id,
  var: fn,
  run_type: "event",
  status: "succeeded",
  attempt: 1,
  start_time: 0,
  stop_time: 1,
  result: {},
  error: null,
  ...more
})
const failed = (event_id: string, fn: string, attempt: number, error = "Error: planned") =>
  run(event_id, fn, { status: "failed", attempt, error })

const toEvidence = (events: ReadonlyArray<StoredEvent>, all: ReadonlyArray<StoredRun>): Evidence => ({
  events: new Map(events.map((each) => [each.event_id, each])),
  runs: all,
  runsOfEvent: Map.groupBy(all, (each) => each.event_id ?? "")
})

const flaky = event("a", "chaos:flaky", { n: 1, failures: 1 })
const shown = event("a", "chaos:shown", { n: 1 })
const lost = "NodeLost: The process that ran this function is gone"

const found = (evidence: Evidence, ledger = new Ledger()): ReadonlyArray<string> => {
  const findings = new Findings(runFindings)
  checkRuns(evidence, ledger, findings)
  return findings.all.filter(({ count }) => count > 0).map(({ what }) => what)
}

describe("checkRuns", () => {
  it("accepts planned retries and runs that were lost with their node", () => {
    const all = [failed("a", "flaky", 1, lost), failed("a", "flaky", 1), failed("a", "flaky", 2, lost)]
    expect(found(toEvidence([flaky], [...all, run("a", "flaky", { attempt: 2 })]))).toEqual([])
  })

  it.each([
    ["acknowledged events that are missing", [], []],
    ["deliveries with an unexpected outcome", [shown], []],
    ["deliveries with an unexpected outcome", [shown], [failed("a", "shown", 1, lost)]],
    ["deliveries that succeeded twice", [shown], [run("a", "shown"), run("a", "shown")]],
    ["duplicate events", [shown, { ...shown, event_id: "b" }], [run("a", "shown"), run("b", "shown")]],
    ["attempts that differ from the retry policy", [flaky], [failed("a", "flaky", 1), run("a", "flaky")]],
    ["runs with an unplanned failure", [shown], [failed("a", "shown", 1, "RunnerLost: …"), run("a", "shown")]]
  ] as const)("finds %s", (what, events, all) => {
    const ledger = new Ledger()
    ledger.acknowledge("shown", 1, "a")
    expect(found(toEvidence(events, all), ledger)).toContain(what)
  })

  it("finds webhooks, schedules and idempotent handlers that did not run exactly once", () => {
    const ledger = new Ledger()
    ledger.acknowledge("hook", 7, null)
    ledger.acknowledge("later", 8, "s")
    const twins = ["x", "y"].map((id, n) => event(id, "chaos:once", { n, value: "v" }))
    const events = [...twins, event("s", "svc:schedule:new", { args: [8] })]
    expect(found(toEvidence(events, [run("x", "once"), run("y", "once")]), ledger)).toEqual([
      "acknowledged webhooks without exactly one run",
      "idempotency keys without exactly one run",
      "one-time schedules that did not fire exactly once"
    ])
  })

  it("finds concurrent runs above the limit of their group, by the times that they recorded", () => {
    const members = (step: number) =>
      Array.from({ length: groupLimit + 1 }, (_, index) =>
        run(null, "grouped", { result: { key: "k", began: index * step, ended: index * step + 10 } })
      )
    expect(found(toEvidence([], members(10)))).toEqual([])
    expect(found(toEvidence([], members(1)))).toEqual(["concurrent runs above the limit of their group"])
  })
})

describe("Time checks", () => {
  const tick = (id: string, at: number) =>
    event(id, "svc:schedule", {
      fn: "main/tick",
      schedule_id: "s",
      scheduled_time: new Date(at * tickSeconds * 1000).toISOString()
    })

  it("find duplicate ticks, and missing ticks outside of faults", () => {
    const findings = new Findings(timeFindings)
    const evidence = toEvidence([tick("a", 0), tick("b", 1), tick("c", 1)], [])
    const period = { from: 0, to: 3 * tickSeconds * 1000 }
    expect(checkTicks(evidence, [], period, findings)).toEqual({ fired: 2, merged: 0 })
    expect(findings.all.filter(({ count }) => count === 1).map(({ what }) => what)).toEqual([
      "ticks that fired twice",
      "missing ticks outside of faults"
    ])
    const fault = { kind: "database crash", slots: [], from: 0, to: 1 }
    expect(checkTicks(evidence, [fault], period, new Findings(timeFindings))).toEqual({ fired: 2, merged: 1 })
  })

  it("find messages that a watcher did not receive", () => {
    const findings = new Findings(timeFindings)
    const at = 10_000
    const events = [{ ...shown, created_at: at }]
    const all = [run("a", "shown", { run_id: "received", stop_time: at }), run("a", "shown", { stop_time: at })]
    const watcher = {
      seen: new Set(["received"]),
      since: () => 0,
      connections: [],
      messages: () => 1,
      stop: async () => undefined
    }
    expect(checkWatchers(toEvidence(events, all), [watcher], at, findings)).toBe(3)
    expect(findings.total).toBe(2)
  })

  it("accept request failures only during faults, and only if the client may retry", () => {
    const ledger = new Ledger()
    ledger.faults.push({ kind: "kill", slots: ["node 1"], from: 1_000_000, to: 1_001_000 })
    const failure = { to: 0, what: "/v1/events: 500", isExpected: true }
    ledger.failures.push({ ...failure, from: 1_000_500, to: 1_000_600 })
    ledger.failures.push({ ...failure, from: 10, to: 20 })
    ledger.failures.push({ ...failure, from: 1_000_500, to: 1_000_600, isExpected: false })
    const findings = new Findings(timeFindings)
    checkFailures(ledger, findings)
    expect(findings.total).toBe(2)
  })
})
