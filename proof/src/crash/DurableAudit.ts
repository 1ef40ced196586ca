/**
 * Audit of durable runs. Every one ends as planned, with all of its records, once each. A body is executed before its record and
 * never after it. The function received the recorded results.
 */
import { isDeepStrictEqual } from "node:util"
import { type DurablePlan, durablePlans } from "./DurableGuest.ts"
import type { Query } from "./Query.ts"

export interface StoredRun {
  readonly run_id: string
  readonly event_id: string
  /** The run that caused it, or that it continues. */
  readonly origin_run_id: string | null
  readonly fn: string
  readonly status: string
  readonly result: unknown
}

export interface StoredRecord {
  readonly run_id: string
  readonly position: number
  readonly seq: number
  readonly kind: string
  readonly name: string
  readonly ok: boolean
  readonly result: unknown
  readonly attempts: number
  readonly ended_at: number
}

/** An execution of the body of a step. */
export interface Execution {
  /** The run and the number of the request. */
  readonly key: string
  readonly created_at: number
}

export interface DurableEvidence {
  readonly runs: ReadonlyArray<StoredRun>
  /** Ascending by position. */
  readonly records: ReadonlyArray<StoredRecord>
  readonly executions: ReadonlyArray<Execution>
}

export const readDurableEvidence = async (query: Query): Promise<DurableEvidence> => {
  const runs = await query(
    "SELECT run_id, event_id, origin_run_id, var, status, result FROM runs WHERE activations IS NOT NULL ORDER BY run_id"
  )
  const records = await query(
    `SELECT run_id, position, seq, kind, name, ok, result, attempts, ended_at FROM workflow_steps
      ORDER BY run_id, position, seq`
  )
  const executions = await query("SELECT event_data, created_at FROM events WHERE event_type = 'flow:body'")
  return {
    runs: runs.map((row) => ({
      run_id: String(row.run_id),
      event_id: String(row.event_id),
      origin_run_id: row.origin_run_id === null ? null : String(row.origin_run_id),
      fn: String(row.var),
      status: String(row.status),
      result: parse(row.result)
    })),
    records: records.map((row) => ({
      run_id: String(row.run_id),
      position: Number(row.position),
      seq: Number(row.seq),
      kind: String(row.kind),
      name: String(row.name),
      ok: Number(row.ok) === 1,
      result: parse(row.result),
      attempts: Number(row.attempts),
      ended_at: Number(row.ended_at)
    })),
    executions: executions.map(({ event_data, created_at }) => {
      const { key }: { readonly key: string } = JSON.parse(String(event_data))
      return { key, created_at: Number(created_at) }
    })
  }
}

const parse = (text: unknown): unknown => (text === null ? null : JSON.parse(String(text)))

/** `started` has the acknowledged events that start durable runs, and how many crashes happened during each. */
export const auditDurableRuns = (
  evidence: DurableEvidence,
  started: ReadonlyMap<string, number>
): ReadonlyArray<string> => {
  const byEvent = Map.groupBy(evidence.runs, ({ event_id }) => event_id)
  const found: Array<string> = []
  if (started.size === 0) found.push("no durable run was started, so there is nothing to audit")
  if (evidence.executions.length === 0) found.push("no execution of a step was recorded, so there is nothing to audit")
  for (const [eventId, crashes] of started) {
    const runs = byEvent.get(eventId) ?? []
    if (runs.length !== 1) found.push(`event ${eventId} started ${runs.length} durable runs instead of 1`)
    for (const run of runs) found.push(...auditRun(evidence, run, 0, crashes))
  }
  return found
}

/** Audits a run and those that it caused. `round` is its number in a chain of continued runs. */
const auditRun = (evidence: DurableEvidence, run: StoredRun, round: number, crashes: number): ReadonlyArray<string> => {
  const plan = durablePlans[run.fn]?.[round]
  if (plan === undefined) return [`run ${run.run_id} of ${run.fn} is not planned`]
  const children = evidence.runs.filter(({ origin_run_id }) => origin_run_id === run.run_id)
  const records = evidence.records.filter(({ run_id }) => run_id === run.run_id)
  const where = `run ${run.run_id} of ${run.fn}`
  return [
    ...auditEnd(run, plan, children),
    ...auditRecords(records, plan),
    ...records.filter(({ kind }) => kind === "step").flatMap((record) => auditBody(evidence, record, crashes)),
    ...auditUnrecorded(evidence, run, records),
    ...auditReceived(run, records)
  ]
    .map((text) => `${where}: ${text}`)
    .concat(children.flatMap((child) => auditRun(evidence, child, child.fn === run.fn ? round + 1 : 0, crashes)))
}

const auditEnd = (
  { status, result }: StoredRun,
  plan: DurablePlan,
  children: ReadonlyArray<StoredRun>
): ReadonlyArray<string> => {
  const found: Array<string> = []
  if (status !== plan.status)
    found.push(`it is ${status} with ${JSON.stringify(result)}, but should have ${plan.status}`)
  const names = children.map(({ fn }) => fn).sort()
  if (!isDeepStrictEqual(names, [...plan.children].sort())) found.push(`it started ${JSON.stringify(names)}`)
  return found
}

/** Compares the records with the plan: none is missing, and none repeats. */
const auditRecords = (records: ReadonlyArray<StoredRecord>, plan: DurablePlan): ReadonlyArray<string> => {
  const found: Array<string> = []
  const names = records
    .map(({ kind, name }) => (kind === name ? kind : `${kind} ${name}`))
    .filter((name) => plan.optional?.includes(name) !== true)
  for (const name of plan.records) if (!names.includes(name)) found.push(`the record of ${name} is missing`)
  for (const [index, name] of names.entries()) {
    if (!plan.records.includes(name)) found.push(`the record of ${name} is not planned`)
    if (names.indexOf(name) !== index) found.push(`${name} is recorded twice`)
  }
  if (found.length === 0 && plan.isOrdered && !isDeepStrictEqual(names, plan.records))
    found.push(`its records are in another order: ${names.join(", ")}`)
  if (records.some(({ position }, index) => position !== index)) found.push("the positions of its records have gaps")
  if (new Set(records.map(({ seq }) => seq)).size !== records.length) found.push("a request has two records")
  return found
}

/** Checks that a body was executed before its record and not after it, and no more often than attempts and crashes allow. */
const auditBody = (
  { executions }: DurableEvidence,
  { run_id, seq, name, attempts, ended_at }: StoredRecord,
  crashes: number
): ReadonlyArray<string> => {
  const times = executions.filter(({ key }) => key === `${run_id}:${seq}`).map(({ created_at }) => created_at)
  const found: Array<string> = []
  if (!times.some((time) => time <= ended_at)) found.push(`the body of ${name} was not executed before its record`)
  if (times.some((time) => time > ended_at)) found.push(`the body of ${name} was executed after its record`)
  // A crash also forgets failed attempts whose pause was too short to be stored.
  if (times.length > attempts * (1 + crashes))
    found.push(`the body of ${name} was executed ${times.length} times for ${attempts} attempts and ${crashes} crashes`)
  return found
}

/** Checks that each executed body has a record. */
const auditUnrecorded = (
  { executions }: DurableEvidence,
  { run_id }: StoredRun,
  records: ReadonlyArray<StoredRecord>
): ReadonlyArray<string> => {
  const keys = new Set(executions.map(({ key }) => key).filter((key) => key.startsWith(`${run_id}:`)))
  for (const { seq } of records) keys.delete(`${run_id}:${seq}`)
  return [...keys].map((key) => `the body of request ${key} was executed but has no record`)
}

/** Compares what the function received with its records, in their order. */
const auditReceived = (run: StoredRun, records: ReadonlyArray<StoredRecord>): ReadonlyArray<string> => {
  if (run.fn === "flow" && run.status === "succeeded") {
    const recorded = records.map(({ name, ok, result }) => [name, ok ? result : { failed: messageOf(result) }])
    return isDeepStrictEqual(run.result, recorded)
      ? []
      : [`it received ${JSON.stringify(run.result)}, but ${JSON.stringify(recorded)} is recorded`]
  }
  return records.flatMap(({ name, result }) => {
    if (!name.startsWith("undo ")) return []
    const done = records.find((record) => `undo ${record.name}` === name)
    return isDeepStrictEqual(result, { undone: done?.result }) ? [] : [`${name} received ${JSON.stringify(result)}`]
  })
}

const messageOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null ? Reflect.get(error, "message") : error
