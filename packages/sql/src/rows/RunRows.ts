/** Rows of the table `runs`. */
import { type BuildId, type Delivery, LogEntry, Run, type RunId, type Timestamp, utf8Length } from "@weft/core/adapter"
import { Schema, Struct } from "effect"
import { deriveColumns } from "./Columns.ts"
import { termColumns, toTerms } from "./DeliveryRows.ts"
import { makeRow } from "./Row.ts"

/** The delivery that a running run holds. */
const held = { delivery_id: "text", first_run_id: "text", ...termColumns } as const

const columns = { ...deriveColumns(Run.fields), ...held, logs: "text", dead_since: "integer" } as const

/** Columns that are null until the run ends. A new field of `Run` that its end sets is added here. */
const outcome = ["stop_time", "result", "cpu_ms", "wall_ms", "heap_bytes", "logs"] as const

/** Columns of durable runs. Only their statements write `waiting`; a run without a delivery is never durable. */
const durable = ["activations", "waiting", "steps"] as const

/** Columns that the end of a run sets. */
const ending = ["status", ...outcome, "dead_since"] as const

/** A run that starts, with the delivery that it holds, if any. */
export const startRow = makeRow(Struct.omit(columns, [...outcome, "dead_since", "waiting", "event_ids"]))

/** The events of a run's batch. A statement of its own stores them, so that other runs need no value. */
export const runBatchRow = makeRow(Struct.pick(columns, ["env_id", "run_id", "event_ids"]))

/** An ended run without a delivery whose start was not stored. */
export const endedRow = makeRow(Struct.omit(columns, [...Struct.keys(held), ...durable, "dead_since", "event_ids"]))

/** The end of a run that is stored as running. */
export const endRow = makeRow(Struct.pick(columns, ["env_id", "run_id", "delivery_id", ...ending]))

/** The columns of `endRow`, and the other columns that stored counts are grouped by. */
export const settledRow = makeRow(
  Struct.pick(columns, [...endRow.names, "project_id", "project_name", "run_type", "start_time"])
)

const nextAttempt = { build_id: "text", attempt: "integer", due_at: "integer", first_run_id: "text" } as const

/** The next attempt of the delivery that a running run holds. */
export const requeueRow = makeRow({ ...Struct.pick(columns, ["env_id", "run_id", "delivery_id"]), ...nextAttempt })

/** Columns of a delivery that its next attempt sets. */
export const nextAttemptColumns: ReadonlySet<string> = new Set(Struct.keys(nextAttempt))

/** Identifies a run. */
export const runKeyRow = makeRow(Struct.pick(columns, ["env_id", "run_id"]))

/** SQL that releases the delivery of a run. */
export const releaseHeld: string = Struct.keys(held)
  .map((column) => `${column} = NULL`)
  .join(", ")

/** Returns SQL that assigns the columns of `endRow` to a run, and releases its delivery. */
export const setEnded = (valueOf: (column: (typeof ending)[number]) => string): string =>
  [...ending.map((column) => `${column} = ${valueOf(column)}`), releaseHeld].join(", ")

/** SQL of the columns of a `Run` without its result, which can be large. */
export const columnsButResult = Struct.keys(Struct.omit(Run.fields, ["result"])).join(", ")

/** SQL of the columns of a `Run`, without its delivery and its logs. */
export const runColumns = `${columnsButResult}, result`

/** The delivery that a running run holds, or nulls. */
interface Held {
  readonly delivery_id: string | null
  readonly first_run_id: string | null
  readonly terms: string | null
  readonly group_key: string | null
  readonly cancel_key: string | null
}

interface EndRecord extends Run {
  readonly logs: string | null
  readonly delivery_id: string | null
  readonly dead_since: Timestamp | null
}

interface RequeueRecord extends Omit<NextAttempt, "build_id"> {
  readonly env_id: string
  readonly run_id: string
  readonly delivery_id: string
  readonly build_id: string
}

interface NextAttempt {
  readonly build_id?: BuildId
  readonly attempt: number
  readonly due_at: Timestamp
  readonly first_run_id: RunId | null
}

/** Returns the columns of `startRow`. `terms` is the stored JSON text of the delivery, if it was stored. */
export const toStartRow = (run: Run, delivery: Delivery | null, terms?: string): Run & Held => ({
  ...run,
  status: "running",
  ...(delivery === null ? holdsNone : holding(delivery, terms))
})

const holdsNone: Held = { delivery_id: null, first_run_id: null, terms: null, group_key: null, cancel_key: null }

const holding = (delivery: Delivery, terms?: string): Held => ({
  delivery_id: delivery.delivery_id,
  first_run_id: delivery.first_run_id,
  ...toTerms(delivery, terms)
})

/**
 * Returns the columns of `endedRow`, `endRow` and `settledRow`. `logs` is the result of `logsText`. `isDead` is true if the
 * delivery becomes a dead letter.
 */
export const toEndRow = (run: Run, logs: string | null, delivery_id: string | null, isDead = false): EndRecord => ({
  ...run,
  logs,
  delivery_id,
  dead_since: isDead ? run.stop_time : null
})

/** Returns the columns of `requeueRow`. */
export const toRequeueRow = (
  { env_id, run_id, build_id }: Run,
  delivery_id: string,
  next: NextAttempt
): RequeueRecord => ({
  env_id,
  run_id,
  delivery_id,
  build_id,
  ...next
})

/** Returns the logs of a run as one JSON text, which is cheaper to write and to page than a row per line. */
export const logsText = (logs: ReadonlyArray<LogEntry>): string | null =>
  logs.length === 0 ? null : JSON.stringify(logs)

const decodeLogs = Schema.decodeSync(Schema.fromJsonString(Schema.Array(LogEntry)))

/** Returns the logs of a run from their stored text. */
export const parseLogs = (logs: string | null): ReadonlyArray<LogEntry> => (logs === null ? [] : decodeLogs(logs))

/** Returns the size of a run's result and logs in UTF-8 bytes. */
export const storedBytes = ({ result }: Run, logs: string | null): number => textBytes(result, logs)

export const textBytes = (result: string | null, logs: string | null): number =>
  utf8Length(result ?? "") + utf8Length(logs ?? "")
