/** The journal's statements over many rows, each prepared once. */
import { type EventId, parkedAt, type RunId } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Batched, batched } from "./Batch.ts"
import type { Database } from "./Database.ts"
import type { Expected, Part, Rows } from "./Dialect.ts"
import { countBatchRow, eventCountRow, runCountRow } from "./rows/CountRows.ts"
import { deliveryRow, pendingRow, unparkRow } from "./rows/DeliveryRows.ts"
import { eventRow } from "./rows/EventRows.ts"
import { leaseRow } from "./rows/LeaseRow.ts"
import {
  endedRow,
  endRow,
  nextAttemptColumns,
  requeueRow,
  runBatchRow,
  runKeyRow,
  setEnded,
  startRow
} from "./rows/RunRows.ts"
import { ignoreExisting, isRunning } from "./StatementText.ts"
import { workflowStatements } from "./WorkflowStatements.ts"

export const journalStatements = (database: Database["Service"]) => ({
  ...eventStatements(database),
  ...runStatements(database),
  ...deliveryStatements(database),
  ...leaseStatements(database),
  ...workflowStatements(database),
  /** Executes several statements as one, or null; see `Dialect.combined`. */
  combined: makeCombined(database),
  runIndependent: makeIndependent(database)
})

export type JournalStatements = ReturnType<typeof journalStatements>

const eventStatements = ({ dialect, writer: sql }: Database["Service"]) => ({
  insertEvents: batched<{ readonly event_id: EventId }>(sql, dialect, {
    row: eventRow,
    ...ignoreExisting((rows) => `INSERT INTO events (${eventRow.list}) ${rows}`),
    returns: "event_id"
  }),

  countEvents: batched(sql, dialect, {
    row: eventCountRow,
    text: (rows) => `INSERT INTO event_counts (${eventCountRow.list}) ${rows}
      ON CONFLICT (env_id, event_type) DO UPDATE SET n = event_counts.n + excluded.n`
  })
})

/** Returns a statement as `countEvents` whose counts are added when the transaction commits. */
export const countArrivals = ({ dialect, writer: sql }: Database["Service"]): JournalStatements["countEvents"] =>
  batched(sql, dialect, {
    row: eventCountRow,
    text: (rows) => `INSERT INTO event_arrivals (${eventCountRow.list}) ${rows}`
  })

const runStatements = ({ dialect, writer: sql }: Database["Service"]) => ({
  /** Inserts runs that start, with the delivery that they hold, if any. */
  insertRuns: batched(sql, dialect, {
    row: startRow,
    ...ignoreExisting((rows) => `INSERT INTO runs (${startRow.list}) ${rows}`)
  }),

  /** Inserts ended runs whose start was not stored. */
  insertEnded: batched<{ readonly run_id: RunId }>(sql, dialect, {
    row: endedRow,
    text: (rows) => `INSERT INTO runs (${endedRow.list}) ${rows} ON CONFLICT DO NOTHING`,
    returns: "run_id"
  }),

  /**
   * Ends runs that are running and hold the given delivery, or no delivery if it is null. A run with a requested cleanup
   * ends only as cancelled.
   */
  endRuns: batched<{ readonly run_id: RunId }>(sql, dialect, {
    row: endRow,
    text: (rows) => `WITH e (${endRow.list}) AS (${rows})
      UPDATE runs SET ${setEnded((column) => `e.${column}`)}
      FROM e WHERE runs.env_id = e.env_id AND runs.run_id = e.run_id AND ${isRunning("runs")}
        AND runs.delivery_id IS NOT DISTINCT FROM e.delivery_id
        AND (runs.cleanup_until IS NULL OR e.status = 'cancelled')`,
    returns: "runs.run_id"
  }),

  /** Stores the events of batches with their runs. */
  setBatches: batched(sql, dialect, {
    row: runBatchRow,
    text: (rows) => `WITH e (${runBatchRow.list}) AS (${rows})
      UPDATE runs SET event_ids = e.event_ids
      FROM e WHERE runs.env_id = e.env_id AND runs.run_id = e.run_id`
  }),

  countRuns: batched(sql, dialect, {
    row: runCountRow,
    text: (rows) => `INSERT INTO run_counts (${runCountRow.list}) ${rows}
      ON CONFLICT (env_id, project_id, project_name, run_type, status) DO UPDATE SET
        n = run_counts.n + excluded.n, bytes = run_counts.bytes + excluded.bytes,
        month_runs = CASE WHEN excluded.month > run_counts.month THEN excluded.month_runs
          WHEN excluded.month = run_counts.month THEN run_counts.month_runs + excluded.month_runs
          ELSE run_counts.month_runs END,
        month = CASE WHEN excluded.month > run_counts.month THEN excluded.month ELSE run_counts.month END`
  }),

  /** Stores the number of a batch of counts. Changes no row if the node's stored number is not less. */
  saveCountBatch: batched(sql, dialect, {
    row: countBatchRow,
    text: (rows) => `INSERT INTO run_count_batches (${countBatchRow.list}) ${rows}
      ON CONFLICT (node_id) DO UPDATE SET seq = excluded.seq, at = excluded.at
        WHERE run_count_batches.seq < excluded.seq`
  }),

  deleteRuns: batched(sql, dialect, {
    row: runKeyRow,
    text: (rows) => `DELETE FROM runs WHERE (${runKeyRow.list}) IN (${rows})`
  })
})

const deliveryStatements = ({ dialect, writer: sql }: Database["Service"]) => ({
  insertDeliveries: batched(sql, dialect, {
    row: deliveryRow,
    ...ignoreExisting((rows) => `INSERT INTO deliveries (${deliveryRow.list}) ${rows}`)
  }),

  /**
   * Puts the deliveries of running runs back into the queue with the given attempt and time. Must run before `endRuns`.
   * Locks the runs, so that only one of two transactions that end the same run finds it running.
   */
  requeueDeliveries: batched(sql, dialect, {
    row: requeueRow,
    text: (rows) => `WITH e (${requeueRow.list}) AS (${rows})
      INSERT INTO deliveries (${deliveryRow.list}) SELECT ${requeued}
      FROM e JOIN runs r ON r.env_id = e.env_id AND r.run_id = e.run_id
      WHERE ${isRunning("r")} AND r.delivery_id = e.delivery_id${dialect.forUpdate("r")}`
  }),

  /** Makes parked deliveries due at the given time. */
  unpark: batched(sql, dialect, {
    row: unparkRow,
    text: (rows) => `WITH e (${unparkRow.list}) AS (${rows})
      UPDATE deliveries SET due_at = e.due_at, held_since = NULL
      FROM e WHERE deliveries.env_id = e.env_id AND deliveries.due_at = ${parkedAt}
        AND deliveries.delivery_id = e.delivery_id`
  }),

  deleteDeliveries: batched(sql, dialect, {
    row: pendingRow,
    text: (rows) => `DELETE FROM deliveries WHERE (${pendingRow.list}) IN (${rows})`
  })
})

/** SQL of the columns of a delivery that is pending again: those of its next attempt, and those of its run `r`. */
const requeued = deliveryRow.names
  .map((column) => (column === "continues" ? "NULL" : `${nextAttemptColumns.has(column) ? "e" : "r"}.${column}`))
  .join(", ")

const leaseStatements = ({ dialect, writer: sql }: Database["Service"]) => ({
  renewLeases: batched(sql, dialect, {
    row: leaseRow,
    text: (rows) => `INSERT INTO leases (${leaseRow.list}) ${rows}
      ON CONFLICT (node_id) DO UPDATE SET until = excluded.until`
  })
})

/** Returns a function that executes all parts that have rows as one statement, or null. */
const makeCombined = ({ dialect: { combined }, writer: sql }: Database["Service"]) =>
  combined === null
    ? null
    : (parts: ReadonlyArray<Part>, expected: ReadonlyArray<Expected>) => {
        const filled = parts.filter(hasRows)
        if (filled.length === 0) return Effect.void
        const checks = expected.map((each) => ({ ...each, parts: each.parts.filter(hasRows) }))
        return combined(
          sql,
          filled,
          checks.filter((each) => each.parts.length > 0)
        )
      }

const hasRows = ({ rows }: Part): boolean => rows.length > 0

/** Returns a function that executes independent statements, as one where the dialect can combine them. */
const makeIndependent = (database: Database["Service"]) => {
  const combined = makeCombined(database)
  return (all: ReadonlyArray<{ readonly statement: Batched<never>; readonly rows: Rows }>) =>
    combined === null
      ? Effect.forEach(all, ({ statement, rows }) => statement.run(rows), { discard: true })
      : // No row counts are expected, so the failure cannot happen.
        Effect.catchTag(
          combined(
            all.map(({ statement, rows }) => statement.part(rows)),
            []
          ),
          "UnexpectedRowCount",
          Effect.die
        )
}
