/** Checks durable functions: their ends, recorded results, bodies, child runs and undo functions. */
import { isDeepStrictEqual } from "node:util"
import type { Findings } from "./Findings.ts"
import {
  type DurableRun,
  type Execution,
  type Flow,
  type FlowEvidence,
  fieldOf,
  type StoredResult
} from "./FlowEvidence.ts"
import type { FlowFigures, FlowFinding, Found } from "./FlowFindings.ts"
import { childRequests, listRequests, undoneSteps } from "./FlowGuest.ts"
import { checkTimes } from "./FlowTimes.ts"
import { checkTokens } from "./FlowTokens.ts"
import { planned } from "./Guest.ts"
import type { Fault, Ledger } from "./Ledger.ts"
import { overlaps } from "./TimeChecks.ts"

export interface FlowOptions {
  /** Lease of the nodes, in milliseconds. */
  readonly leaseMs: number
}

/** Checks all flows. Those of which nothing was compared are a violation as well. */
export const checkFlows = (
  { flows, orphans }: FlowEvidence,
  ledger: Ledger,
  { leaseMs }: FlowOptions,
  findings: Findings
): FlowFigures => {
  const found: Found = (what: FlowFinding, sample) => findings.add(what, sample)
  for (const orphan of orphans) found("waits and results without their run", orphan)
  const runs = flows.flatMap((flow) => [...flow.runs, ...flow.children])
  const bodies = runs.map((run) => checkBodies(run, ledger.faults, found))
  for (const run of runs) checkPositions(run, found)
  const ended = flows.filter((flow) => checkEnd(flow, found))
  for (const flow of ended) {
    checkReceived(flow, found)
    checkChild(flow, found)
    checkUndone(flow, found)
  }
  const times = checkTimes(ended, ledger, leaseMs, found)
  const tokens = checkTokens(ended, ledger, found)
  const figures: FlowFigures = {
    flows: ended.length,
    undone: ended.filter(({ plan }) => plan.fails).length,
    results: runs.reduce((sum, { results }) => sum + results.length, 0),
    activations: new Set(runs.flatMap(({ executions }) => executions.map(({ activation }) => activation))).size,
    executions: runs.reduce((sum, { executions }) => sum + executions.length, 0),
    unrecorded: bodies.reduce((sum, { unrecorded }) => sum + unrecorded, 0),
    stale: bodies.reduce((sum, { stale }) => sum + stale, 0),
    ...times,
    ...tokens
  }
  for (const what of ["flows", "undone", "executions", "sleeps", "events", "tokens"] as const) {
    if (figures[what] === 0) found("checks of durable functions that compared nothing", what)
  }
  return figures
}

/** Returns the run of a flow, if it has one. */
const checkEnd = (flow: Flow, found: Found): boolean => {
  const { event, plan, runs } = flow
  const [only] = runs
  if (runs.length !== 1 || only === undefined) {
    found("flows without exactly one run", `${event.event_id}: ${runs.length}`)
    return false
  }
  const { run_id, status, error } = only.run
  const isPlanned = plan.fails ? status === "failed" && error === `Error: ${planned}` : status === "succeeded"
  if (!isPlanned) found("flows that did not end as planned", `${run_id}: ${status} ${error ?? ""}`)
  return isPlanned
}

/** Checks that each request has one result, and that positions have no gaps. */
const checkPositions = ({ run, results }: DurableRun, found: Found): void => {
  const numbers = new Set(results.map(({ seq }) => seq))
  const names = new Set(results.map(toRequest))
  const hasGap = results.some(({ position }, index) => position !== index)
  if (!hasGap && numbers.size === results.length && names.size === results.length) return
  const all = results.map(({ position, seq, name }) => `${position}: ${seq} ${name}`)
  found("requests of flows without exactly one result", `${run.run_id}: ${all.join(", ")}`)
}

const toRequest = ({ kind, name }: StoredResult): string => `${kind} ${name}`

interface BodyCounts {
  /** Executions whose result was not recorded. */
  readonly unrecorded: number
  /** Executions after the record, by nodes that had lost their lease. */
  readonly stale: number
}

const checkBodies = (
  { run, results, executions }: DurableRun,
  faults: ReadonlyArray<Fault>,
  found: Found
): BodyCounts => {
  let [unrecorded, stale] = [0, 0]
  for (const result of results) {
    if (result.kind !== "step") continue
    const { name, attempts } = result
    const ofStep = executions.filter((each) => each.name === name)
    const recorded = ofStep.find(({ execution }) => execution === fieldOf(result.value, "execution"))
    if (recorded === undefined || recorded.attempt !== attempts || !result.ok) {
      const sample = `${run.run_id} ${name}: ${ofStep.length} executions, recorded ${JSON.stringify(result)}`
      found("results of steps that no execution of their body returned", sample)
      continue
    }
    unrecorded += ofStep.length - 1
    for (const each of ofStep) {
      const later = describeLater(each, recorded, result, results)
      if (later === null) continue
      if (later === "stale" && isExcused(each, faults)) stale++
      else found("bodies that ran after their result was recorded", `${run.run_id} ${name}: ${JSON.stringify(each)}`)
    }
  }
  return { unrecorded, stale }
}

/**
 * Returns how an execution followed the recorded one; null if it preceded it. It is stale if nothing of its activation was
 * recorded from then on: its node may have lost its lease.
 */
const describeLater = (
  each: Execution,
  recorded: Execution,
  { position }: StoredResult,
  results: ReadonlyArray<StoredResult>
): "stale" | "wrong" | null => {
  if (each === recorded) return null
  if (each.activation === recorded.activation) return each.attempt < recorded.attempt ? null : "wrong"
  const isActive = results.some(
    (result) => result.position >= position && fieldOf(result.value, "activation") === each.activation
  )
  if (isActive) return "wrong"
  return each.began > recorded.began ? "stale" : null
}

/** Faults after which a node may be active although others consider it dead. */
const isolating = new Set([
  "pause",
  "blackhole",
  "cut",
  "database crash",
  "database restart",
  "kill during database crash"
])

/** Time in milliseconds after which a node knows that it has lost its lease. */
const noticeMs = 10_000

const isExcused = ({ activated, began }: Execution, faults: ReadonlyArray<Fault>): boolean =>
  overlaps(
    faults.filter(({ kind }) => isolating.has(kind)),
    activated,
    began,
    noticeMs
  )

/** Checks that the requests of the plan were made, and that the function received the recorded results in their order. */
const checkReceived = ({ plan, runs, children }: Flow, found: Found): void => {
  for (const { run, results } of runs) {
    compareRequests(run.run_id, results, listRequests(plan), found)
    const seen = fieldOf(results.find(({ name }) => name === "sum")?.value, "received")
    compareReceived(run.run_id, results, seen, found)
    if (!plan.fails) compareReceived(run.run_id, results, run.result.received, found)
  }
  for (const { run, results } of children) {
    compareRequests(run.run_id, results, childRequests, found)
    compareReceived(run.run_id, results, run.result.received, found)
  }
}

const compareRequests = (
  runId: string,
  results: ReadonlyArray<StoredResult>,
  expected: ReadonlyArray<string>,
  found: Found
): void => {
  const made = results.map(toRequest)
  const differing = [
    ...expected.filter((name) => !made.includes(name)),
    ...made.filter((name) => !expected.includes(name))
  ]
  if (differing.length > 0) found("flows whose requests differ from their plan", `${runId}: ${differing.join(", ")}`)
}

/** Requests whose results the guest does not list. */
const isUnlisted = ({ kind, name }: StoredResult): boolean =>
  kind === "token" || name === "sum" || name.startsWith("undo ")

const compareReceived = (
  runId: string,
  results: ReadonlyArray<StoredResult>,
  received: unknown,
  found: Found
): void => {
  const recorded = results.filter((result) => !isUnlisted(result)).map(({ name, value }) => [name, value ?? null])
  if (isDeepStrictEqual(recorded, received)) return
  const sample = `${runId}: ${JSON.stringify(received)} for ${JSON.stringify(recorded)}`
  found("flows that received other results than the recorded ones", sample)
}

/** Checks that the child run was started once, ended once, and gave its result to its parent. */
const checkChild = ({ event, runs, calls, children }: Flow, found: Found): void => {
  const [child] = children
  if (calls.length !== 1 || children.length !== 1 || child?.run.status !== "succeeded") {
    const states = children.map(({ run }) => `${run.run_id} ${run.status} ${run.error ?? ""}`)
    found("child runs that did not run exactly once", `${event.event_id}: ${calls.length} calls, ${states.join(", ")}`)
    return
  }
  const received = runs.flatMap(({ results }) => results.filter(({ kind }) => kind === "run"))
  if (received.length === 1 && isDeepStrictEqual(received[0]?.value, child.run.result)) return
  found("results of child runs that their parent did not receive", `${event.event_id}: ${JSON.stringify(received)}`)
}

/** Checks that completed steps were undone in reverse order if the function failed, each with the result of its step. */
const checkUndone = ({ plan, runs }: Flow, found: Found): void => {
  for (const { run, results } of runs) {
    const undone = results.filter(({ name }) => name.startsWith("undo "))
    const order = undone.map(({ name }) => name.slice("undo ".length))
    const expected = plan.fails ? undoneSteps.toReversed() : []
    const areResultsRight = undone.every(({ value }, index) => {
      const step = results.find(({ name }) => name === order[index])
      const execution = fieldOf(step?.value, "execution")
      return execution !== undefined && fieldOf(value, "undone") === execution
    })
    if (isDeepStrictEqual(order, expected) && areResultsRight) continue
    found("steps that were not undone once in reverse order", `${run.run_id}: ${JSON.stringify(undone)}`)
  }
}
