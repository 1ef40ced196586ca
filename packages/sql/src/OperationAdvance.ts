/** Steps of operations, each in the caller's transaction. */
import type { OperationProgress, OperationStep } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"
import { makeStartLetters } from "./DeadLetterMarks.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import type { makeCancelRuns } from "./RunCancellation.ts"
import { deliveryRow, toDeliveryRow } from "./rows/DeliveryRows.ts"
import { type OperationRow, operationColumns, toOperation } from "./rows/OperationRows.ts"

/** Returns a function that stores a step. */
export const makeAdvance = (
  database: Database["Service"],
  statements: JournalStatements,
  cancel: ReturnType<typeof makeCancelRuns>
) => {
  const { dialect, writer: sql } = database
  const startLetters = makeStartLetters(database, statements)
  return Effect.fnUntraced(function* (
    step: OperationStep
  ): Effect.fn.Return<OperationProgress | null, SqlError.SqlError> {
    const { operation, cancels, deliveries, redrives, at, end } = step
    const { env_id, operation_id, fence, after_run_id } = operation
    const ref = sql`env_id = ${env_id} AND operation_id = ${operation_id}`
    const held = yield* sql`SELECT 1 AS n FROM operations WHERE ${ref} AND state = 'running' AND fence = ${fence}
      AND coalesce(after_run_id, '') = ${after_run_id ?? ""}${sql.literal(dialect.forUpdate())}`
    if (held.length === 0) return null
    const cancelled = cancels.length === 0 ? [] : yield* cancel(env_id, { runIds: cancels }, at, cancels.length)
    const started = redrives.length === 0 ? 0 : (yield* startLetters(env_id, redrives)).length
    yield* statements.insertDeliveries.run(deliveryRow.encode(deliveries.map(toDeliveryRow)))
    const [row] = yield* sql<OperationRow>`UPDATE operations SET after_run_id = ${step.next},
        done = done + ${deliveries.length + started + cancelled.length},
        skipped = skipped + ${step.skipped + redrives.length - started + cancels.length - cancelled.length},
        failed = failed + ${step.failed}, failures = ${JSON.stringify(step.failures)},
        waiting = ${step.waiting},
        lease_until = ${end === null ? step.until : 0}, state = ${end === null ? "running" : end.state},
        error = ${end === null ? null : end.error}, ended_at = ${end === null ? null : at}
      WHERE ${ref} RETURNING ${sql.literal(operationColumns)}`
    return row === undefined ? null : { operation: toOperation(row), cancelled }
  })
}
