/** Transactions that start a run for an earlier one: in place of a durable run, from its results, or for its event. */
import { type Delivery, type Event, type Fork, parseWaiting, type Renewal } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"
import type { UnexpectedRowCount } from "./Dialect.ts"
import { applyAll } from "./JournalCommit.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { deliveryRow, toDeliveryRow } from "./rows/DeliveryRows.ts"
import { runBatchRow, startRow, toStartRow } from "./rows/RunRows.ts"
import { stepColumns } from "./rows/WorkflowRows.ts"

/** Returns the methods of `RunControlStore`, for the caller's transaction. */
export const makeRenewal = ({ dialect, writer: sql }: Database["Service"], statements: JournalStatements) => {
  const columns = sql.literal(stepColumns.join(", "))
  return {
    renew: Effect.fnUntraced(function* ({
      run,
      logs,
      deliveryId,
      event,
      delivery
    }: Renewal): Effect.fn.Return<boolean, SqlError.SqlError | UnexpectedRowCount> {
      if (!(yield* statements.lockHolder(run, deliveryId))) return false
      const moved = yield* sql`UPDATE workflow_waits SET child_event_id = ${event.event_id}
        WHERE env_id = ${run.env_id} AND child_event_id = ${run.event_id} AND outcome IS NULL`.raw
      if (delivery.awaited === true && dialect.changes(moved) === 0) return false
      yield* applyAll(statements, [
        { _tag: "Settled", run, logs, deliveryId, next: null },
        { _tag: "Appended", event, deliveries: [{ delivery, run: null }] }
      ])
      return true
    }),

    redeliver: Effect.fnUntraced(function* (
      delivery: Delivery,
      event: Event | undefined
    ): Effect.fn.Return<void, SqlError.SqlError | UnexpectedRowCount> {
      if (event === undefined) yield* statements.insertDeliveries.run(deliveryRow.encode([toDeliveryRow(delivery)]))
      else yield* applyAll(statements, [{ _tag: "Appended", event, deliveries: [{ delivery, run: null }] }])
    }),

    fork: Effect.fnUntraced(function* ({
      run,
      delivery,
      source,
      before
    }: Fork): Effect.fn.Return<void, SqlError.SqlError> {
      const { env_id, run_id, waiting } = run
      yield* statements.insertRuns.run(startRow.encode([toStartRow(run, null)]))
      if (run.event_ids !== null) yield* statements.setBatches.run(runBatchRow.encode([run]))
      const waitingFor = waiting === null ? null : parseWaiting(waiting).for
      yield* sql`UPDATE runs SET waiting = ${waiting}, waiting_for = ${waitingFor}
        WHERE env_id = ${env_id} AND run_id = ${run_id}`
      yield* sql`INSERT INTO workflow_steps (env_id, run_id, ${columns})
        SELECT env_id, ${run_id}, ${columns} FROM workflow_steps
        WHERE env_id = ${env_id} AND run_id = ${source.run_id} AND position < ${before}`
      yield* statements.insertDeliveries.run(deliveryRow.encode([toDeliveryRow(delivery)]))
    })
  }
}
