/** The checks of durable functions on nodes with faults find every kind of violation. */
import { describe, expect, it } from "vitest"
import type { StoredEvent, StoredRun } from "../src/nodes/Evidence.ts"
import { Findings } from "../src/nodes/Findings.ts"
import { checkFlows } from "../src/nodes/FlowChecks.ts"
import type { DurableRun, Execution, Flow, StoredResult } from "../src/nodes/FlowEvidence.ts"
import { type FlowFigures, type FlowFinding, flowFindings } from "../src/nodes/FlowFindings.ts"
import { type FlowPlan, undoneSteps } from "../src/nodes/FlowGuest.ts"
import { Ledger } from "../src/nodes/Ledger.ts"

const leaseMs = 1_000

const event = (event_id: string, event_type: string, created_at: number, data: StoredEvent["data"]): StoredEvent => ({
  ...{ event_id, event_type, created_at, data }
})

/** Builder of a durable run. Each of its requests takes 100 ms by default. */
class Recorder {
  readonly results: Array<StoredResult> = []
  readonly executions: Array<Execution> = []
  readonly received: Array<readonly [string, unknown]> = []
  readonly activation: string
  now = 1_000

  constructor(activation: string) {
    this.activation = activation
  }

  add(kind: string, name: string, value: unknown, ms = 100, attempts = 1): void {
    const seq = this.results.length
    const times = { started_at: this.now, ended_at: this.now + ms }
    this.results.push({ position: seq, seq, kind, name, ok: true, attempts, ...times, value })
    this.now += ms
  }

  keep(kind: string, name: string, value: unknown, ms = 100): void {
    this.add(kind, name, value, ms)
    this.received.push([name, value])
  }

  step(name: string, more: object = {}, attempts = 1): void {
    const began = this.now
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const execution = `${this.activation} ${name} ${attempt}`
      this.executions.push({ execution, name, attempt, began, activation: this.activation, activated: 1_000 })
    }
    const value = { execution: `${this.activation} ${name} ${attempts}`, activation: this.activation, ...more }
    this.add("step", name, value, 100, attempts)
    if (name !== "sum" && !name.startsWith("undo ")) this.received.push([name, value])
  }
}

const naps = { nap: 500, "a naps": 300, "b naps": 300, "c naps": 300, rest: 200 }

const toRun = (more: Partial<StoredRun>): StoredRun => ({
  ...{ run_id: "run", event_id: "flow", var: "flow", run_type: "event", status: "succeeded", attempt: 1 },
  ...{ start_time: 1_000, stop_time: 9_000, result: {}, error: null, ...more }
})

const recordChild = (): DurableRun => {
  const child = new Recorder("child")
  child.step("work")
  child.keep("sleep", "rest", null, naps.rest)
  child.step("done")
  const { results, executions, received } = child
  return { run: toRun({ run_id: "child", var: "child", result: { n: 1, received } }), results, executions }
}

interface Story {
  readonly flow: Flow
  readonly ledger: Ledger
  readonly orphans: Array<string>
}

/** A flow in which everything is right. */
const tell = (fails: boolean): Story => {
  const plan: FlowPlan = { n: 1, failures: 1, fails, naps }
  const child = recordChild()
  const main = new Recorder("main")
  main.step("first")
  main.step("flaky", {}, 2)
  main.keep("sleep", "nap", null, naps.nap)
  main.step("gather")
  for (const branch of ["a", "b", "c"]) {
    main.step(`${branch} begins`)
    main.keep("sleep", `${branch} naps`, null, 300)
    main.step(`${branch} ends`)
  }
  main.step("beside")
  const signalled = event("signal", "chaos:signal", main.now + 50, { n: 2, flow: 1, name: "signal" })
  main.keep("event", "signal", { event_id: "signal" })
  main.add("token", "approval", null)
  main.keep("completion", "approval", { ok: true, data: "1:1" })
  main.keep("run", "child", child.run.result, 1_000)
  main.keep("event", "later", null, 15_000)
  for (const name of undoneSteps) main.step(name)
  main.step("sum", { received: [...main.received] })
  if (fails) {
    for (const name of undoneSteps.toReversed()) main.step(`undo ${name}`, { undone: `main ${name} 1` })
  }
  const end: Partial<StoredRun> = fails
    ? { status: "failed", error: "Error: planned" }
    : { result: { n: 1, received: main.received } }
  const { results, executions } = main
  const call = event("call", "svc:call", 5_000, { fn: "main/child", args: [{ flow: 1 }] })
  const ledger = new Ledger()
  const request = { run_id: "run", from: 1, to: 2 }
  ledger.completions.push({ ...request, value: "1:1", status: 200 })
  ledger.completions.push({ ...request, from: 3, to: 4, value: "1:2", status: 409 })
  const flow: Flow = {
    ...{ event: event("flow", "chaos:flow", 900, { ...plan }), plan, signals: [signalled], calls: [call] },
    ...{ runs: [{ run: toRun(end), results, executions }], children: [child] }
  }
  return { flow, ledger, orphans: [] }
}

interface Checked {
  readonly found: ReadonlyArray<string>
  readonly figures: FlowFigures
}

/** Checks a changed flow together with two that are right, so that every check compares something. */
const check = (change: (story: Story) => Flow | null, fails = true): Checked => {
  const findings = new Findings(flowFindings)
  const story = tell(fails)
  const flow = change(story)
  const others = [tell(true), tell(false)].map((each) => each.flow)
  const flows = flow === null ? others : [...others, flow]
  // All three have the same ids.
  const figures = checkFlows({ flows, orphans: story.orphans }, story.ledger, { leaseMs }, findings)
  return { found: findings.all.filter(({ count }) => count > 0).map(({ what }) => what), figures }
}

const find = (change: (story: Story) => Flow | null, fails = true) => check(change, fails).found

/** Changes the run of a flow. */
const inRun =
  (change: (run: DurableRun) => Partial<DurableRun>) =>
  ({ flow }: Story): Flow => ({ ...flow, runs: flow.runs.map((run) => ({ ...run, ...change(run) })) })

/** Changes one result of the run of a flow. */
const inResult = (name: string, change: (result: StoredResult) => Partial<StoredResult>) =>
  inRun(({ results }) => ({
    results: results.map((result) => (result.name === name ? { ...result, ...change(result) } : result))
  }))

const withExecution = (more: Partial<Execution>) =>
  inRun(({ executions }) => {
    const first = executions.find(({ name }) => name === "first")
    return first === undefined ? {} : { executions: [...executions, { ...first, execution: "again", ...more }] }
  })

/** Removes a result, and closes the gap. */
const without = (name: string) =>
  inRun(({ results }) => ({
    results: results.filter((result) => result.name !== name).map((result, position) => ({ ...result, position }))
  }))

/** Violations, each with a change that plants it. */
const violations: ReadonlyArray<readonly [FlowFinding, (story: Story) => Flow | null]> = [
  ["flows without exactly one run", ({ flow }) => ({ ...flow, runs: [] })],
  ["flows without exactly one run", ({ flow }) => ({ ...flow, runs: [...flow.runs, ...flow.runs] })],
  ["flows that did not end as planned", inRun(({ run }) => ({ run: { ...run, status: "running", error: null } }))],
  ["flows that did not end as planned", inRun(({ run }) => ({ run: { ...run, error: "NodeLost: gone" } }))],
  ["flows that did not end as planned", inRun(({ run }) => ({ run: { ...run, status: "succeeded", error: null } }))],
  ["flows whose requests differ from their plan", without("beside")],
  ["flows whose requests differ from their plan", inResult("gather", () => ({ name: "other" }))],
  [
    "flows that received other results than the recorded ones",
    inResult("signal", () => ({ value: { event_id: "x" } }))
  ],
  ["flows that received other results than the recorded ones", inResult("nap", () => ({ value: 1 }))],
  ["requests of flows without exactly one result", inResult("beside", ({ seq }) => ({ seq: seq - 1 }))],
  ["requests of flows without exactly one result", inResult("sum", ({ position }) => ({ position: position + 1 }))],
  [
    "requests of flows without exactly one result",
    inRun(({ results }) => ({ results: [...results, ...results.slice(-1)] }))
  ],
  ["results of steps that no execution of their body returned", inRun(() => ({ executions: [] }))],
  ["results of steps that no execution of their body returned", inResult("flaky", () => ({ attempts: 1 }))],
  ["results of steps that no execution of their body returned", inResult("first", () => ({ ok: false }))],
  ["bodies that ran after their result was recorded", withExecution({ attempt: 2 })],
  [
    "bodies that ran after their result was recorded",
    withExecution({ activation: "next", activated: 1_200, began: 1_300 })
  ],
  ["sleeps that ended early", inResult("nap", ({ ended_at }) => ({ ended_at: ended_at - 1 }))],
  [
    "sleeps that ended early",
    inRun(({ executions }) => ({
      executions: executions.map((each) => (each.name === "gather" ? { ...each, began: each.began - 101 } : each))
    }))
  ],
  [
    "sleeps that ended late",
    inRun(({ executions }) => ({
      executions: executions.map((each) => (each.name === "gather" ? { ...each, began: each.began + 5_001 } : each))
    }))
  ],
  ["waits that ended late after their timeout", inResult("later", ({ ended_at }) => ({ ended_at: ended_at + 5_001 }))],
  ["waits that ended before their timeout", inResult("later", ({ ended_at }) => ({ ended_at: ended_at - 1 }))],
  [
    "waits that received another event",
    ({ flow }) => ({
      ...flow,
      signals: flow.signals.map((each) => ({ ...each, data: { ...each.data, name: "later" } }))
    })
  ],
  [
    "waits that received another event",
    ({ flow }) => ({ ...flow, signals: flow.signals.map((each) => ({ ...each, created_at: 0 })) })
  ],
  ["child runs that did not run exactly once", ({ flow }) => ({ ...flow, calls: [...flow.calls, ...flow.calls] })],
  ["child runs that did not run exactly once", ({ flow }) => ({ ...flow, children: [] })],
  [
    "child runs that did not run exactly once",
    ({ flow }) => ({
      ...flow,
      children: flow.children.map((child) => ({ ...child, run: { ...child.run, status: "failed" } }))
    })
  ],
  [
    "results of child runs that their parent did not receive",
    ({ flow }) => ({
      ...flow,
      children: flow.children.map((child) => ({ ...child, run: { ...child.run, result: { n: 2 } } }))
    })
  ],
  ["steps that were not undone once in reverse order", without("undo flight")],
  [
    "steps that were not undone once in reverse order",
    inRun(({ results }) => ({
      results: [...results.slice(0, -2), ...results.slice(-2).reverse()].map((each, position) => ({
        ...each,
        position
      }))
    }))
  ],
  [
    "steps that were not undone once in reverse order",
    inResult("undo car", ({ value }) => ({ value: { ...Object(value), undone: "main hotel 1" } }))
  ]
]

describe("checkFlows", () => {
  it.each([true, false])("accepts flows that did what they must (failing: %s)", (fails) => {
    const { found, figures } = check(({ flow }) => flow, fails)
    expect(found).toEqual([])
    expect(figures).toMatchObject({ flows: 3, undone: fails ? 2 : 1, sleeps: 15, events: 3, timeouts: 3, tokens: 3 })
    expect(figures).toMatchObject({ unrecorded: 3, stale: 0, undisturbed: 15, refused: 1 })
  })

  it.each(violations)("finds %s (%#)", (what, change) => {
    expect(find(change)).toContain(what)
  })
})

describe("checkFlows with requests, faults and leftovers", () => {
  it("finds events that a wait should have received before its timeout", () => {
    const withSignal = (created_at: number, at: number) => (story: Story) => {
      const later = story.flow.runs[0]?.results.find(({ name }) => name === "later")
      if (later === undefined) return null
      const id = "late signal"
      story.ledger.acknowledged.set(id, { kind: "signal", n: 3, at: later.started_at + at })
      const data = { n: 3, flow: 1, name: "later" }
      const signal = event(id, "chaos:signal", later.started_at + created_at, data)
      return { ...story.flow, signals: [...story.flow.signals, signal] }
    }
    expect(find(withSignal(0, 15_000))).toEqual(["waits that lost their event"])
    expect(find(withSignal(-1, 100))).toEqual([])
    expect(find(withSignal(100, 15_001))).toEqual([])
  })

  it("finds tokens that were completed twice, and completions that were lost", () => {
    const withCompletion =
      (status: number | null, value = "1:3", from = 5) =>
      (story: Story) => {
        story.ledger.completions.push({ run_id: "run", value, from, to: from + 1, status })
        return story.flow
      }
    expect(find(withCompletion(200))).toContain("tokens that were completed twice")
    expect(find(withCompletion(200, "1:3", 1))).toContain("tokens that were completed twice")
    expect(find(withCompletion(404))).toEqual(["tokens that were completed twice"])
    for (const status of [409, 410, null]) expect(find(withCompletion(status))).toEqual([])
    const withAnswer = (value: unknown) => inResult("approval", ({ kind }) => (kind === "completion" ? { value } : {}))
    for (const value of [
      { ok: true, data: "1:2" },
      { ok: false, reason: "timeout" }
    ]) {
      expect(find(withAnswer(value))).toContain("completions that their flow did not receive")
    }
  })

  it("accepts the answer of a completion without a response, and of no other that was not accepted", () => {
    const withStatus = (status: number | null) => (story: Story) => {
      const request = { run_id: "run", value: "1:1", from: 1, to: 2, status }
      story.ledger.completions.splice(0, 1, request)
      return story.flow
    }
    expect(find(withStatus(null))).toEqual([])
    expect(find(withStatus(409))).toEqual(["completions that their flow did not receive"])
  })

  it("accepts executions after the record only on nodes that may have lost their lease, if nothing of them was recorded", () => {
    const stale = withExecution({ activation: "stale", activated: 1_000, began: 1_300 })
    const during = (kind: string, change: (story: Story) => Flow) => (story: Story) => {
      story.ledger.faults.push({ kind, slots: ["node 1"], from: 1_000, to: 1_200 })
      return change(story)
    }
    const { found, figures } = check(during("pause", stale))
    expect(found).toEqual([])
    expect(figures.stale).toBe(1)
    const after = "bodies that ran after their result was recorded"
    expect(find(during("kill", stale))).toEqual([after])
    expect(find(during("pause", withExecution({ attempt: 2 })))).toEqual([after])
    const active = withExecution({ activation: "active", activated: 900, began: 950 })
    const recording = (story: Story): Flow =>
      inResult("beside", ({ value }) => ({ value: { ...Object(value), activation: "active" } }))({
        ...story,
        flow: active(story)
      })
    expect(find(during("pause", recording))).toContain(after)
  })

  it("allows sleeps to end later during a fault, until other nodes detect it", () => {
    const late = (ms: number) => (story: Story) => {
      story.ledger.faults.push({ kind: "kill", slots: ["node 1"], from: 1_200, to: 1_300 })
      return inRun(({ executions }) => ({
        executions: executions.map((each) => (each.name === "gather" ? { ...each, began: each.began + ms } : each))
      }))(story)
    }
    expect(find(late(36_000))).toEqual([])
    expect(find(late(36_001))).toEqual(["sleeps that ended late"])
  })

  it("finds waits and results without a run", () => {
    const lose = (story: Story) => {
      story.orphans.push("wait signal of run")
      return story.flow
    }
    expect(find(lose)).toEqual(["waits and results without their run"])
  })

  it("fails if nothing was compared", () => {
    const findings = new Findings(flowFindings)
    checkFlows({ flows: [], orphans: [] }, new Ledger(), { leaseMs }, findings)
    const [nothing] = findings.all.filter(({ count }) => count > 0)
    expect(nothing?.what).toBe("checks of durable functions that compared nothing")
    expect(nothing?.samples).toEqual(["flows", "undone", "executions", "sleeps", "events", "tokens"])
  })

  it("has a planted violation for every kind", () => {
    const planted = new Set<string>([
      ...violations.map(([what]) => what),
      ...["waits that lost their event", "tokens that were completed twice"],
      ...["completions that their flow did not receive", "waits and results without their run"],
      "checks of durable functions that compared nothing"
    ])
    expect([...flowFindings].filter((what) => !planted.has(what))).toEqual([])
  })
})
