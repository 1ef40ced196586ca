/** Marks of dead letters, each function in the caller's transaction. */
import type { EnvId } from "@weft/core"
import type { Redrive, RunId } from "@weft/core/adapter"
import { Effect } from "effect"
import type { Database } from "./Database.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { deliveryRow, toDeliveryRow } from "./rows/DeliveryRows.ts"

/** Returns a function that removes marks, and returns the runs that had one. It waits for concurrent transactions on them. */
export const makeUnmark =
  ({ dialect, writer: sql }: Database["Service"]) =>
  (envId: EnvId, runIds: ReadonlyArray<RunId>) =>
    Effect.map(
      sql<{ readonly run_id: RunId }>`UPDATE runs SET dead_since = NULL
        WHERE env_id = ${envId} AND run_id ${dialect.among(sql, runIds)} AND dead_since IS NOT NULL
        RETURNING run_id`,
      (rows) => rows.map(({ run_id }) => run_id)
    )

/** Returns a function that removes marks, and adds the deliveries of the runs that had one. It returns these runs. */
export const makeStartLetters = (
  database: Database["Service"],
  { insertDeliveries }: Pick<JournalStatements, "insertDeliveries">
) => {
  const unmark = makeUnmark(database)
  return Effect.fnUntraced(function* (envId: EnvId, redrives: ReadonlyArray<Redrive>) {
    const runIds = yield* unmark(
      envId,
      redrives.map(({ runId }) => runId)
    )
    const unmarked = new Set(runIds)
    const started = redrives.filter(({ runId }) => unmarked.delete(runId))
    yield* insertDeliveries.run(deliveryRow.encode(started.map(({ delivery }) => toDeliveryRow(delivery))))
    return runIds
  })
}
