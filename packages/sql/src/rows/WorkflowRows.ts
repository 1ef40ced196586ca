/** Rows of the tables `workflow_steps` and `workflow_waits`, and of the suspension of a durable run. */
import {
  countSteps,
  type JsonText,
  keyOfMatch,
  parseWaiting,
  type RunRef,
  StepRecord,
  type Timestamp,
  WaitRecord
} from "@weft/core/adapter"
import { Struct } from "effect"
import { deriveColumns } from "./Columns.ts"
import { makeRow } from "./Row.ts"

/** A run and the delivery that it holds. */
export interface HeldRun {
  readonly run: RunRef
  readonly deliveryId: string
}

/** Identifies a run and the delivery that it holds: only the holder may write. */
const holder = { env_id: "text", run_id: "text", delivery_id: "text" } as const

const step = { ...deriveColumns(Struct.omit(StepRecord.fields, ["ok"])), ok: "integer" } as const
const wait = { ...deriveColumns(WaitRecord.fields), match_path: "text", match_value: "text" } as const

/** Columns of a step, without those that identify its run. */
export const stepColumns = Struct.keys(step)

/** Columns of a wait, without those that identify its run. */
export const waitColumns: ReadonlyArray<string> = Struct.keys(wait)

export const holderRow = makeRow(holder)
export const stepRow = makeRow({ ...holder, ...step })
export const waitRow = makeRow({ ...holder, ...wait })

/** Identifies a wait. */
export const waitKeyRow = makeRow({ env_id: "text", run_id: "text", seq: "integer" })

/**
 * The suspension of a run. `ended` contains `,seq,` for each wait that ends with it, which every database can search. `steps`
 * is the number of results after its own ones, 0 without any.
 */
export const suspendRow = makeRow({
  ...holder,
  ...{ waiting: "text", waiting_for: "text", logs: "text", at: "integer", due_at: "integer", cleanup_until: "integer" },
  ...{ ended: "text", steps: "integer" }
})

/** The number of results of a run that stays active. */
export const stepCountRow = makeRow({ ...holder, steps: "integer" })

/** SQL that ends the suspension of a run. */
export const clearWaiting = "waiting = NULL, waiting_for = NULL"

/** A suspended run that continues, with the delivery that it holds from now on. */
export const continueRow = makeRow({
  ...holder,
  ...{ node_id: "text", first_run_id: "text", terms: "text", group_key: "text", cancel_key: "text" }
})

/** Returns the columns of `holderRow`. */
export const toHolder = ({ run: { env_id, run_id }, deliveryId }: HeldRun) => ({
  env_id,
  run_id,
  delivery_id: deliveryId
})

/** Returns the columns of `stepRow`. */
export const toStepRow = (of: HeldRun, record: StepRecord) => ({ ...record, ...toHolder(of), ok: record.ok ? 1 : 0 })

/** Returns the columns of `waitRow`. */
export const toWaitRow = (of: HeldRun, record: WaitRecord) => {
  const key = record.event_type === null ? null : keyOfMatch(record.match)
  return { ...record, ...toHolder(of), match_path: key?.path ?? null, match_value: key?.value ?? null }
}

/** The suspension of a run. */
export interface SuspensionRecord {
  readonly waiting: JsonText
  /** Logs as stored text. */
  readonly logs: string | null
  /** Time at which the run continues if one of its waits has an outcome. */
  readonly at: Timestamp
  readonly due_at: Timestamp
  /** End of the requested cleanup that the activation knows. If the run has another one, it continues at `at`. */
  readonly cleanup_until: Timestamp | null
  /** New results. */
  readonly steps: ReadonlyArray<StepRecord>
}

/** Returns the columns of `suspendRow`. `ended` has the `seq` of each wait that ends with the suspension. */
export const toSuspendRow = (of: HeldRun, record: SuspensionRecord, ended: Iterable<number>) => ({
  ...record,
  ...toHolder(of),
  waiting_for: parseWaiting(record.waiting).for,
  steps: countSteps(record.steps),
  ended: `,${[...ended].join(",")},`
})

/** A stored step. */
export interface StoredStep extends Omit<StepRecord, "ok"> {
  readonly ok: number
}

export const toStep = ({ ok, ...record }: StoredStep): StepRecord => ({ ...record, ok: ok === 1 })

/** SQL of the columns of a `StepRecord`. */
export const stepFields: string = Struct.keys(StepRecord.fields).join(", ")

/** SQL of the columns of a `StepRecord` without its result, which can be large. */
export const stepFieldsButResult: string = Struct.keys(Struct.omit(StepRecord.fields, ["result"])).join(", ")

/** SQL of the columns of an `OpenWait`. */
export const openWaitFields: string = Struct.keys(
  Struct.omit(WaitRecord.fields, ["match", "token_seq", "outcome"])
).join(", ")

/** SQL of the columns of a `WaitRecord` without its outcome, which can be large. */
export const waitFieldsButOutcome: string = Struct.keys(Struct.omit(WaitRecord.fields, ["outcome"])).join(", ")

/** SQL of the columns of a `WaitRecord`. */
export const waitFields: string = Struct.keys(WaitRecord.fields).join(", ")
