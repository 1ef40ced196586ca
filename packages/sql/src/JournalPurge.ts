/** Removing runs that have ended, in the transaction of the caller. */
import type { EnvId, Run, RunId } from "@weft/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { Tally } from "./Tally.ts"

/** Results and logs in one transaction: their pages are read to be given back, and meanwhile nobody else writes. */
const bytesMax = 16 * 1024 * 1024

/** Removes the runs with the least ids below `before`, at most `limit`; how many. */
export const purgeEnded = Effect.fnUntraced(function* (
  { dialect, writer: sql }: Database["Service"],
  statements: JournalStatements,
  envId: EnvId,
  before: RunId,
  limit: number
): Effect.fn.Return<number, SqlError.SqlError> {
  const ended = yield* sql<EndedRow>`
    SELECT env_id, run_id, project_id, project_name, run_type, status, start_time,
      coalesce(octet_length(result), 0) + coalesce(octet_length(logs), 0) AS bytes
    FROM runs WHERE env_id = ${envId} AND run_id < ${before} AND status <> 'running'
    ORDER BY run_id LIMIT ${limit}${sql.literal(dialect.skipLocked)}`
  const tally = new Tally()
  const gone: Rows = []
  let bytes = 0
  for (const run of ended) {
    bytes += run.bytes
    if (bytes > bytesMax && gone.length > 0) break
    tally.removed(run, run.bytes)
    gone.push(run.env_id, run.run_id)
  }
  const removed = yield* statements.deleteRuns.run(gone)
  yield* statements.countRuns.run(tally.runs())
  return removed
})

type EndedRow = Pick<
  Run,
  "env_id" | "run_id" | "project_id" | "project_name" | "run_type" | "status" | "start_time"
> & { readonly bytes: number }
