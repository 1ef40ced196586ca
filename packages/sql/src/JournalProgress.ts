/**
 * Progress of durable runs in a batch. Entries of the same run are merged, so that a statement changes each wait once.
 */
import {
  countSteps,
  type JournalEntry,
  type RunId,
  type StepRecord,
  type Suspension,
  type Timestamp,
  type WaitRecord
} from "@weft/core/adapter"
import type { Rows } from "./Dialect.ts"
import { logsText } from "./rows/RunRows.ts"
import {
  stepCountRow,
  stepRow,
  suspendRow,
  toHolder,
  toStepRow,
  toSuspendRow,
  toWaitRow,
  waitKeyRow,
  waitRow
} from "./rows/WorkflowRows.ts"

export type Advanced = Extract<JournalEntry, { _tag: "Advanced" }>

/** Merged entries of one run. */
interface Progress {
  readonly of: Pick<Advanced, "run" | "deliveryId">
  readonly steps: Array<StepRecord>
  /** New waits that none of the steps ended, by `seq`. */
  readonly waits: Map<number, WaitRecord>
  /** Waits that the steps ended. */
  readonly ended: Set<number>
  suspended: { readonly at: Timestamp; readonly suspension: Suspension } | null
}

/** Rows of the statements that store progress, in the order in which the statements run. */
export interface ProgressRows {
  /** Of `stepRow`. */
  readonly steps: Rows
  /** Of `stepCountRow`, for runs that are not suspended. */
  readonly stepCounts: Rows
  /** Of `waitRow`. */
  readonly waits: Rows
  /** Of `waitKeyRow`. */
  readonly endedWaits: Rows
  /** Of `suspendRow`. */
  readonly suspensions: Rows
  /** Number of rows that must be changed if every run holds its delivery. */
  readonly counts: { readonly steps: number; readonly waits: number; readonly suspensions: number }
}

/**
 * Returns the rows of the entries. Null if an entry can have no effect because of an earlier one, or changes nothing: then
 * each entry must be applied on its own.
 */
export const mergeProgress = (entries: ReadonlyArray<Advanced>): ProgressRows | null => {
  const byRun = new Map<RunId, Progress>()
  for (const entry of entries) {
    const known = byRun.get(entry.run.run_id)
    if (known !== undefined && (known.suspended !== null || known.of.deliveryId !== entry.deliveryId)) return null
    if (entry.steps.length + entry.waits.length === 0 && entry.suspension === null) return null
    const progress = known ?? { of: entry, steps: [], waits: new Map(), ended: new Set(), suspended: null }
    addEntry(progress, entry)
    byRun.set(entry.run.run_id, progress)
  }
  return toProgressRows([...byRun.values()])
}

/** Returns the rows of one entry. */
export const entryProgress = (entry: Advanced): ProgressRows => {
  const progress: Progress = { of: entry, steps: [], waits: new Map(), ended: new Set(), suspended: null }
  addEntry(progress, entry)
  return toProgressRows([progress])
}

const addEntry = (progress: Progress, { at, steps, waits, suspension }: Advanced): void => {
  for (const wait of waits) {
    progress.waits.set(wait.seq, wait)
    progress.ended.delete(wait.seq)
  }
  for (const step of steps) {
    progress.steps.push(step)
    progress.waits.delete(step.seq)
    progress.ended.add(step.seq)
  }
  if (suspension !== null) progress.suspended = { at, suspension }
}

const toProgressRows = (all: ReadonlyArray<Progress>): ProgressRows => {
  const rows: Omit<ProgressRows, "counts"> = { steps: [], stepCounts: [], waits: [], endedWaits: [], suspensions: [] }
  const counts = { steps: 0, waits: 0, suspensions: 0 }
  for (const { of, steps, waits, ended, suspended } of all) {
    const { env_id, run_id } = of.run
    for (const step of steps) stepRow.append(rows.steps, toStepRow(of, step))
    for (const wait of waits.values()) waitRow.append(rows.waits, toWaitRow(of, wait))
    for (const seq of ended) waitKeyRow.append(rows.endedWaits, { env_id, run_id, seq })
    counts.steps += steps.length
    counts.waits += waits.size
    if (suspended === null) {
      if (steps.length > 0) stepCountRow.append(rows.stepCounts, { ...toHolder(of), steps: countSteps(steps) })
      continue
    }
    const { at, suspension } = suspended
    // Waits of the same commit are not visible to the statement that looks for outcomes.
    const hasOutcome = [...waits.values()].some(({ outcome }) => outcome !== null)
    const { waiting, cleanup_until } = suspension
    const record = { at, waiting, cleanup_until, logs: logsText(suspension.logs), steps }
    const due_at = hasOutcome ? at : suspension.due_at
    suspendRow.append(rows.suspensions, toSuspendRow(of, { ...record, due_at }, ended))
    counts.suspensions++
  }
  return { ...rows, counts }
}
