/**
 * The part of the reference model for durable runs: their histories, activations and bodies.
 *
 * It sees each write after the store has applied it, and everything that functions do. `RequestRules.ts` has the rules of
 * each kind of request.
 */
import type { Claim, Event, History, JournalEntry, Run, RunId, StepRecord, WaitRecord } from "@weft/core/adapter"
import type { ReferenceModel } from "../ReferenceModel.ts"
import { type FlowProbe, failedStep, type Received } from "./Flow.ts"
import { type FlowRules, type NamedRequest, nameRequests, type Plan } from "./Plan.ts"
import { checkResult } from "./RequestRules.ts"

export type Advanced = Extract<JournalEntry, { _tag: "Advanced" }>

/** A durable run as the store must have it. */
export interface TrackedFlow {
  readonly run: Run
  readonly rules: FlowRules
  readonly requests: ReadonlyMap<string, NamedRequest>
  readonly steps: Array<StepRecord>
  readonly waits: Map<number, WaitRecord>
  /** Elapsed milliseconds of the first call of each request. */
  readonly requestedAt: Map<string, number>
  /** Numbers of requests by their names, as the store has them. */
  readonly numbers: Map<string, number>
  /** Bodies that began, by the number of their request. */
  readonly bodies: Map<number, Array<TrackedBody>>
  /** Names of the nodes of the activations, in order. */
  readonly activations: Array<string>
  /** Names of the requests that the function made in its last activation, and of those whose results it received. */
  current: { readonly requested: Set<string>; readonly received: Set<string> }
}

interface TrackedBody {
  readonly attempt: number
  readonly result: string
}

/** The parts of the reference model that the rules of durable runs need. */
export type Surroundings = Pick<ReferenceModel, "must" | "events" | "storedBy" | "isHeld">

export class WorkflowModel {
  readonly flows = new Map<RunId, TrackedFlow>()
  readonly #model: Surroundings
  readonly #rules: ReadonlyArray<FlowRules>
  readonly #elapsed: () => number
  /** Maximum difference between the clocks of nodes, in milliseconds. */
  readonly #slackMs: number
  readonly #outcomes = new Map<string, string>()
  #bodies = 0

  constructor(model: Surroundings, rules: ReadonlyArray<FlowRules>, slackMs: number, elapsed: () => number) {
    this.#model = model
    this.#rules = rules
    this.#slackMs = slackMs
    this.#elapsed = elapsed
  }

  get counts() {
    const flows = [...this.flows.values()]
    const sum = (of: (flow: TrackedFlow) => number) => flows.reduce((total, flow) => total + of(flow), 0)
    return {
      workflows: flows.length,
      activations: sum(({ activations }) => activations.length),
      results: sum(({ steps }) => steps.length),
      bodies: this.#bodies
    }
  }

  /** Records the first activation of a durable run. */
  began(run: Run, event: Event | undefined, node: string): void {
    const rules = this.#rules[Number(run.var.slice("flow".length))]
    if (rules === undefined || event === undefined) return
    const { plan }: { readonly plan: Plan } = JSON.parse(event.event_data)
    this.flows.set(run.run_id, {
      ...{ run, rules, steps: [], waits: new Map(), requestedAt: new Map(), numbers: new Map(), bodies: new Map() },
      requests: new Map(nameRequests(plan).map((request) => [request.name, request])),
      activations: [node],
      current: { requested: new Set(), received: new Set() }
    })
  }

  /** Records a later activation. */
  continued({ run }: Claim, node: string): void {
    const flow = this.flows.get(run.run_id)
    this.#model.must(flow !== undefined, `${run.run_id} has begun before it continues`)
    flow?.activations.push(node)
    this.#model.must(
      run.activations === flow?.activations.length,
      `${run.run_id} counts its activations (got ${run.activations} instead of ${flow?.activations.length})`
    )
  }

  /** Records progress that counted. `outcomes`: the events that its waits had in the store before. */
  advanced(
    { run, steps, waits, suspension }: Advanced,
    node: string,
    outcomes: ReadonlyMap<number, string | null>
  ): void {
    const flow = this.flows.get(run.run_id)
    if (flow === undefined) {
      this.#model.must(false, `${run.run_id} is known before it progresses`)
      return
    }
    this.#model.must(flow.activations.at(-1) === node, `only the node of the last activation of ${run.run_id} writes`)
    for (const step of steps) this.#recorded(flow, step, outcomes)
    const ended = new Set(flow.steps.map(({ seq }) => seq))
    for (const record of waits) {
      if (ended.has(record.seq)) continue
      this.#numbered(flow, record.name, record.seq)
      flow.waits.set(record.seq, record)
    }
    if (suspension === null) return
    const waiting: { readonly for: string } = JSON.parse(suspension.waiting)
    // Otherwise the node could not continue the run.
    if (waiting.for !== "node") this.#suspended(flow, suspension.due_at)
  }

  /** Checks that a run is suspended only if it can do nothing, and until its first wait ends. */
  #suspended({ run, steps, waits, current, rules }: TrackedFlow, dueAt: number): void {
    const { requested, received } = current
    const waiting = new Set([...waits.values()].map(({ name }) => name))
    const active = [...requested].filter((name) => !received.has(name) && !waiting.has(name))
    this.#model.must(active.length === 0, `${run.run_id} is suspended while it only waits (got ${active} active)`)
    const ignored = steps.filter(({ name }) => !received.has(name)).map(({ name }) => name)
    this.#model.must(ignored.length === 0, `${run.run_id} received its results before its suspension (not ${ignored})`)
    // A stall is the pause after an activation without progress, and no request.
    const asked = [...waits.values()].filter(({ kind }) => kind !== "stall")
    const ends = asked.map(({ until }) => until ?? Number.POSITIVE_INFINITY)
    const first = Math.min(...ends, run.start_time + rules.timeout)
    this.#model.must(dueAt <= first, `${run.run_id} continues when its first wait ends (got ${dueAt - first} ms later)`)
  }

  #recorded(flow: TrackedFlow, step: StepRecord, outcomes: ReadonlyMap<number, string | null>): void {
    const what = `result ${step.position} of ${flow.run.run_id}, ${step.kind} ${step.name},`
    const before = flow.steps[step.position]
    if (before !== undefined) {
      // A write whose response was lost is repeated.
      this.#model.must(JSON.stringify(before) === JSON.stringify(step), `${what} never changes`)
      return
    }
    this.#model.must(step.position === flow.steps.length, `${what} follows ${flow.steps.length} others`)
    this.#model.must(!flow.steps.some(({ seq }) => seq === step.seq), `${what} is the first of its request`)
    this.#numbered(flow, step.name, step.seq)
    const request = flow.requests.get(step.name)
    if (request === undefined) {
      this.#model.must(false, `${what} is in the plan`)
      return
    }
    const wait = flow.waits.get(step.seq) ?? null
    for (const broken of checkResult({
      ...{ request, step, rules: flow.rules, wait },
      outcome: outcomes.get(step.seq) ?? null,
      bodies: flow.bodies.get(step.seq) ?? [],
      requestedAt: flow.requestedAt.get(step.name) ?? Number.NaN,
      now: this.#elapsed(),
      slackMs: this.#slackMs,
      signals: this.#signals
    })) {
      this.#model.must(false, `${what} ${broken}`)
    }
    flow.steps.push(step)
    flow.waits.delete(step.seq)
  }

  /** Checks that a request has the same number in each activation. */
  #numbered(flow: TrackedFlow, name: string, seq: number): void {
    const before = flow.numbers.get(name) ?? seq
    flow.numbers.set(name, before)
    this.#model.must(before === seq, `request ${name} of ${flow.run.run_id} keeps its number ${before} (got ${seq})`)
  }

  get #signals(): ReadonlyArray<{ readonly event: Event; readonly storedAt: number }> {
    return [...this.#model.events.values()].map((event) => ({
      event,
      storedAt: this.#model.storedBy.get(event.event_id)?.at ?? 0
    }))
  }

  /** Checks what a node reads at the start of an activation. */
  loaded(runId: RunId, { steps, waits }: History): void {
    const flow = this.flows.get(runId)
    if (flow === undefined) return
    this.#sameSteps(flow, steps)
    for (const { seq, outcome } of waits) {
      if (outcome === null) continue
      const key = `${runId} ${seq}`
      const before = this.#outcomes.get(key) ?? outcome
      this.#outcomes.set(key, before)
      this.#model.must(before === outcome, `wait ${seq} of ${runId} keeps its event`)
    }
  }

  #sameSteps(flow: TrackedFlow, steps: ReadonlyArray<StepRecord>): void {
    this.#model.must(
      JSON.stringify(steps) === JSON.stringify(flow.steps),
      `the store has the ${flow.steps.length} results of ${flow.run.run_id} (got ${steps.length})`
    )
  }

  /** Checks the history of an ended run in the store. */
  audited(run: Run, { steps, waits }: History): void {
    const flow = this.flows.get(run.run_id)
    if (flow === undefined) {
      this.#model.must(run.activations === null, `${run.run_id} is known as durable`)
      return
    }
    this.#sameSteps(flow, steps)
    this.#model.must(waits.length === 0, `${run.run_id} has ended and waits for nothing (got ${waits.length} waits)`)
  }

  /** Checks the end of a run. */
  settled(run: Run): void {
    const flow = this.flows.get(run.run_id)
    if (flow === undefined) return
    const received = flow.steps.map(({ name, ok, result }): Received => [name, ok ? readJson(result) : failedStep])
    if (run.status === "succeeded") {
      const result = JSON.stringify(received)
      this.#model.must(run.result === result, `${run.run_id} received what is recorded, ${result} (got ${run.result})`)
      const missing = flow.requests.size - flow.steps.length
      this.#model.must(missing === 0, `${run.run_id} ends with all its results (${missing} are missing)`)
      return
    }
    const lateMs = (run.stop_time ?? 0) - run.start_time - flow.rules.timeout
    const isTimedOut = run.result?.includes('"TimedOut"') === true && lateMs >= -this.#slackMs
    this.#model.must(isTimedOut, `${run.run_id} fails only after its timeout (got ${run.status}, ${run.result})`)
  }

  /** Returns the probe of an invocation on a node, which checks what its function does. */
  probe(runId: RunId, node: string, sleep: FlowProbe["sleep"]): FlowProbe | null {
    const flow = this.flows.get(runId)
    if (flow === undefined) return null
    const activation = flow.activations.length
    const current = { requested: new Set<string>(), received: new Set<string>() }
    if (flow.activations.at(-1) === node) flow.current = current
    // A node that was considered dead may continue for a while. Its results do not count.
    const isCurrent = () =>
      flow.activations.length === activation && flow.activations.at(-1) === node && this.#model.isHeld(runId)
    return {
      sleep,
      requested: ({ name }) => {
        current.requested.add(name)
        if (!flow.requestedAt.has(name)) flow.requestedAt.set(name, this.#elapsed())
      },
      body: ({ name }, attempt, key) => {
        const seq = Number(key.slice(key.lastIndexOf(":") + 1))
        const result = `body ${this.#bodies++}`
        const before = flow.bodies.get(seq) ?? []
        flow.bodies.set(seq, [...before, { attempt, result }])
        this.#model.must(key === `${runId}:${seq}`, `body ${name} of ${runId} has the key of its run (got ${key})`)
        this.#model.must(
          attempt === 1 || before.some((other) => other.attempt === attempt - 1),
          `attempt ${attempt} at ${name} of ${runId} follows another one`
        )
        this.#model.must(
          attempt <= flow.rules.attempts,
          `${name} of ${runId} has at most ${flow.rules.attempts} attempts (got ${attempt})`
        )
        const isRecorded = flow.steps.some((step) => step.seq === seq)
        this.#model.must(!isCurrent() || !isRecorded, `body ${name} of ${runId} does not run again after its record`)
        return result
      },
      received: ({ name, kind }, result) => {
        current.received.add(name)
        if (!isCurrent()) return
        const step = flow.steps.find((one) => one.name === name)
        this.#model.must(
          step !== undefined || kind !== "step",
          `${runId} receives the result of ${name} after its record`
        )
        if (step === undefined) return
        const recorded = step.ok ? readJson(step.result) : failedStep
        this.#model.must(
          JSON.stringify(result) === JSON.stringify(recorded),
          `${runId} receives the recorded result of ${name} (got ${JSON.stringify(result)})`
        )
      }
    }
  }
}

const readJson = (text: string | null): unknown => (text === null ? null : JSON.parse(text))
