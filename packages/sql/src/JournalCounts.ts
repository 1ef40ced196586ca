/** Adds runs that are not stored to the usage of their organization. */
import type { RunCountBatch } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { CountDeltas } from "./CountDeltas.ts"
import type { Database } from "./Database.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { countBatchRow } from "./rows/CountRows.ts"

/** Age in milliseconds after which the number of a node's latest batch is removed. A repeated batch is never that old. */
const batchAgeMs = 24 * 3_600_000

/** Adds a batch in the caller's transaction, unless it was added before. */
export const addCounts = Effect.fnUntraced(function* (
  { writer: sql }: Database["Service"],
  statements: JournalStatements,
  batch: RunCountBatch
): Effect.fn.Return<void, SqlError.SqlError> {
  if ((yield* statements.saveCountBatch.run(countBatchRow.encode([batch]))) === 0) return
  const deltas = new CountDeltas()
  for (const count of batch.counts) deltas.addCounted(count, count.runs)
  yield* statements.countRuns.run(deltas.runRows())
  // Each process is a node of its own, whose number remains.
  if (batch.seq === 1) yield* sql`DELETE FROM run_count_batches WHERE at < ${batch.at - batchAgeMs}`
})
