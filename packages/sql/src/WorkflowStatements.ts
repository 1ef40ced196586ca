/** Statements of the journal about durable runs. Each one affects only runs that hold the given delivery. */
import type { DeliveryId, RunRef } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Batched, batched } from "./Batch.ts"
import type { Database } from "./Database.ts"
import { deliveryRow } from "./rows/DeliveryRows.ts"
import { releaseHeld, runKeyRow } from "./rows/RunRows.ts"
import {
  clearWaiting,
  continueRow,
  stepColumns,
  stepCountRow,
  stepRow,
  suspendRow,
  waitColumns,
  waitKeyRow,
  waitRow
} from "./rows/WorkflowRows.ts"
import { ignoreExisting, isRunning } from "./StatementText.ts"

export const workflowStatements = (database: Database["Service"]) => ({
  ...historyStatements(database),
  ...suspensionStatements(database)
})

/** Condition for waits that only their time ends. */
const endsByTime = (waits: string): string =>
  `${waits}.event_type IS NULL AND ${waits}.child_event_id IS NULL AND ${waits}.token_seq IS NULL`

/** Joins the rows `e` with the runs `r` that hold their delivery. */
const joinHolders = `FROM e JOIN runs r ON r.env_id = e.env_id AND r.run_id = e.run_id
  WHERE ${isRunning("r")} AND r.delivery_id = e.delivery_id`

const historyStatements = ({ dialect, writer: sql }: Database["Service"]) => {
  /** Returns an insert of columns of `e`. It locks the runs, so that a node that no longer holds a run writes nothing. */
  const insertHeld = (table: string, columns: ReadonlyArray<string>, list: string) => {
    const inserted = ["env_id", "run_id", ...columns]
    const selected = inserted.map((column) => `e.${column}`).join(", ")
    return (rows: string) => `WITH e (${list}) AS (${rows})
      INSERT INTO ${table} (${inserted.join(", ")}) SELECT ${selected} ${joinHolders}${dialect.forUpdate("r")}`
  }
  const insertWaits = insertHeld("workflow_waits", waitColumns, waitRow.list)
  return {
    insertSteps: batched(sql, dialect, {
      row: stepRow,
      ...ignoreExisting(insertHeld("workflow_steps", stepColumns, stepRow.list))
    }),

    /** Sets the number of results of runs that stay active. A write that is repeated changes nothing. */
    countSteps: batched(sql, dialect, {
      row: stepCountRow,
      text: (rows) => `WITH e (${stepCountRow.list}) AS (${rows})
        UPDATE runs SET steps = e.steps
        FROM e WHERE runs.env_id = e.env_id AND runs.run_id = e.run_id AND ${isRunning("runs")}
          AND runs.delivery_id = e.delivery_id AND e.steps > coalesce(runs.steps, 0)`
    }),

    /** Inserts waits, or replaces those with the same `seq`. An event that has arrived stays. */
    saveWaits: batched(sql, dialect, {
      row: waitRow,
      text: (rows) => `${insertWaits(rows)} ${replaceWait}`,
      // A part does not see an outcome that is stored meanwhile, so it does not replace waits that may have one.
      strictText: (rows) => `${insertWaits(rows)} ${replaceWait} WHERE ${endsByTime("workflow_waits")}`
    }),

    deleteWaits: batched(sql, dialect, {
      row: waitKeyRow,
      text: (rows) => `DELETE FROM workflow_waits WHERE (${waitKeyRow.list}) IN (${rows})`
    }),

    deleteWaitsOfRuns: deleteOfRuns("workflow_waits", { dialect, writer: sql }),

    deleteTokensOfRuns: deleteOfRuns("workflow_tokens", { dialect, writer: sql }),

    /** True if the run holds the delivery. It does until the transaction ends. */
    lockHolder: ({ env_id, run_id }: RunRef, deliveryId: DeliveryId) =>
      Effect.map(
        sql`SELECT 1 FROM runs r WHERE r.env_id = ${env_id} AND r.run_id = ${run_id}
          AND ${sql.literal(isRunning("r"))} AND r.delivery_id = ${deliveryId}${sql.literal(dialect.forUpdate())}`,
        (rows) => rows.length > 0
      )
  }
}

const replaceWait = `ON CONFLICT (${waitKeyRow.list}) DO UPDATE SET ${waitColumns
  .filter((column) => column !== "seq")
  .map((column) =>
    column === "outcome"
      ? "outcome = coalesce(workflow_waits.outcome, excluded.outcome)"
      : `${column} = excluded.${column}`
  )
  .join(", ")}`

const deleteOfRuns = (
  table: string,
  { dialect, writer: sql }: Pick<Database["Service"], "dialect" | "writer">
): Batched<never> =>
  batched(sql, dialect, {
    row: runKeyRow,
    text: (rows) => `DELETE FROM ${table} WHERE (${runKeyRow.list}) IN (${rows})`
  })

const suspensionStatements = ({ dialect, writer: sql }: Database["Service"]) => {
  /**
   * Number of the run's waits with an event or a completed token. The lock makes it wait for one that is arriving. The
   * count is outside of the locking query, so that it sees the outcome then. A later one finds the delivery.
   */
  const outcomes = `(SELECT count(w.outcome) FROM (
      SELECT outcome FROM workflow_waits w WHERE w.env_id = r.env_id AND w.run_id = r.run_id
        AND NOT (${endsByTime("w")}) AND e.ended NOT LIKE '%,' || w.seq || ',%'${dialect.forUpdate()}
    ) AS w)`
  // A cleanup that was requested in the meantime is seen, because the run is locked.
  const isDueNow = `${outcomes} > 0 OR r.cleanup_until IS DISTINCT FROM e.cleanup_until`
  const suspended = deliveryRow.names.map((column) => {
    if (column === "continues") return "r.run_id"
    return column === "due_at" ? `CASE WHEN ${isDueNow} THEN e.at ELSE e.due_at END` : `r.${column}`
  })
  const held = ["node_id", "delivery_id", "first_run_id", "terms", "group_key", "cancel_key"]
  const setHeld = held.map((name) => `${name} = e.${name}`)
  return {
    /** Releases the deliveries of runs that are suspended. Must run before `suspendRuns`. */
    suspendDeliveries: batched(sql, dialect, {
      row: suspendRow,
      text: (rows) => `WITH e (${suspendRow.list}) AS (${rows})
        INSERT INTO deliveries (${deliveryRow.list}) SELECT ${suspended.join(", ")}
        ${joinHolders}${dialect.forUpdate("r")}`
    }),

    suspendRuns: batched(sql, dialect, {
      row: suspendRow,
      text: (rows) => `WITH e (${suspendRow.list}) AS (${rows})
        UPDATE runs SET waiting = e.waiting, waiting_for = e.waiting_for, logs = e.logs, ${releaseHeld},
          steps = CASE WHEN e.steps > coalesce(runs.steps, 0) THEN e.steps ELSE runs.steps END
        FROM e WHERE runs.env_id = e.env_id AND runs.run_id = e.run_id AND ${isRunning("runs")}
          AND runs.delivery_id = e.delivery_id`
    }),

    /** Gives a new delivery to suspended runs. */
    continueRuns: batched(sql, dialect, {
      row: continueRow,
      text: (rows) => `WITH e (${continueRow.list}) AS (${rows})
        UPDATE runs SET ${clearWaiting}, activations = coalesce(runs.activations, 0) + 1, ${setHeld.join(", ")}
        FROM e WHERE runs.env_id = e.env_id AND runs.run_id = e.run_id AND ${isRunning("runs")}`
    })
  }
}
