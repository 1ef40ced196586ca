/** Removes ended runs in short transactions. */
import type { EnvId } from "@weft/core"
import type { PurgedFunction, Run, RunId } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { CountDeltas } from "./CountDeltas.ts"
import type { Database } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { runKeyRow } from "./rows/RunRows.ts"

/** Maximum bytes of results and logs per transaction. SQLite reads their pages to free them while it blocks writers. */
const bytesMax = 16 * 1024 * 1024

/** Maximum steps of durable runs per transaction. Their results have at most 256 KiB each, and mostly less than 1 KiB. */
const stepsMax = 100

interface Selection {
  readonly envId: EnvId
  readonly before: RunId
  readonly limit: number
  /** Undefined for all functions. */
  readonly of: PurgedFunction | undefined
}

/** Removes at most `limit` runs with the lowest ids below `before`. Returns their number. */
export const purgeEnded = Effect.fnUntraced(function* (
  database: Database["Service"],
  statements: JournalStatements,
  selection: Selection
): Effect.fn.Return<number, SqlError.SqlError> {
  const { writer } = database
  while (true) {
    const removed = yield* writer.withTransaction(removeNext(database, statements, selection))
    if (removed !== null) return removed
  }
})

/** Removes runs in the caller's transaction. Returns null if it removed steps of a run that has more of them. */
const removeNext = Effect.fnUntraced(function* (
  database: Database["Service"],
  statements: JournalStatements,
  { envId, before, limit, of }: Selection
): Effect.fn.Return<number | null, SqlError.SqlError> {
  const { dialect, writer: sql } = database
  const ofFunction =
    of === undefined ? sql.literal("") : sql` AND project_id = ${of.project_id} AND var = ${of.var} AND ns = ${of.ns}`
  const ended = yield* sql<EndedRow>`
    SELECT env_id, run_id, project_id, project_name, run_type, status, start_time, activations,
      coalesce(octet_length(result), 0) + coalesce(octet_length(logs), 0) AS bytes
    FROM runs WHERE env_id = ${envId} AND run_id < ${before}${ofFunction} AND status <> 'running'
    ORDER BY run_id LIMIT ${limit}${sql.literal(dialect.skipLocked)}`
  const deltas = new CountDeltas()
  const ids: Rows = []
  const durable: Rows = []
  let steps = 0
  let bytes = 0
  for (const run of ended) {
    bytes += run.bytes
    if (bytes > bytesMax && ids.length > 0) break
    if (run.activations !== null) {
      const removed = yield* removeSteps(database, run, stepsMax - steps)
      steps += removed
      if (steps >= stepsMax && ids.length === 0) return null
      if (steps >= stepsMax) break
      runKeyRow.append(durable, run)
    }
    deltas.subtractRun(run, run.bytes)
    runKeyRow.append(ids, run)
  }
  yield* statements.deleteWaitsOfRuns.run(durable)
  yield* statements.deleteTokensOfRuns.run(durable)
  const removed = yield* statements.deleteRuns.run(ids)
  yield* statements.countRuns.run(deltas.runRows())
  return removed
})

/** Removes at most `limit` steps of a run. Returns their number. */
const removeSteps = ({ dialect, writer: sql }: Database["Service"], { env_id, run_id }: EndedRow, limit: number) =>
  Effect.map(
    sql`DELETE FROM workflow_steps WHERE env_id = ${env_id} AND run_id = ${run_id} AND position IN (
      SELECT position FROM workflow_steps WHERE env_id = ${env_id} AND run_id = ${run_id}
      ORDER BY position LIMIT ${limit})`.raw,
    dialect.changes
  )

type EndedRow = Pick<
  Run,
  "env_id" | "run_id" | "project_id" | "project_name" | "run_type" | "status" | "start_time" | "activations"
> & { readonly bytes: number }
