/** `RunControlStore` on SQL. */
import {
  parkedAt,
  type Run,
  RunControlStore,
  type RunId,
  type RunLog,
  type RunRef,
  type RunStatus,
  type Timestamp,
  utf8Length
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { Counted } from "./CountDeltas.ts"
import { Database, orUnavailable } from "./Database.ts"
import { makeDiscard } from "./DeliveryDiscard.ts"
import { journalStatements } from "./JournalStatements.ts"
import { makeAdvance } from "./OperationAdvance.ts"
import { makeCancelRuns } from "./RunCancellation.ts"
import { makeRenewal } from "./RunRenewal.ts"
import { runCountRow } from "./rows/CountRows.ts"
import { deliveryRow, toDeliveryRow } from "./rows/DeliveryRows.ts"
import { logsText, runColumns } from "./rows/RunRows.ts"
import { isRunning } from "./StatementText.ts"

export const layer: Layer.Layer<RunControlStore, never, Database> = Layer.effect(
  RunControlStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, reader, writer: sql } = database
    const statements = journalStatements(database)

    const cancel = makeCancelRuns(database, statements)

    const requestCleanup = Effect.fnUntraced(function* ({ env_id, run_id }: RunRef, until: Timestamp, at: Timestamp) {
      const [run] = yield* sql<Run>`UPDATE runs SET cleanup_until = coalesce(cleanup_until, ${until})
        WHERE env_id = ${env_id} AND run_id = ${run_id} AND ${sql.literal(isRunning("runs"))} AND activations IS NOT NULL
        RETURNING ${sql.literal(runColumns)}`
      if (run === undefined) return null
      yield* sql`UPDATE deliveries SET due_at = ${at} WHERE env_id = ${env_id} AND continues = ${run_id}
        AND due_at > ${at} AND due_at <> ${parkedAt}`
      return run
    })

    const log = Effect.fnUntraced(function* ({ env_id, run_id, entries }: RunLog) {
      const logs = logsText(entries)
      const set = sql`UPDATE runs SET logs = ${logs} WHERE env_id = ${env_id} AND run_id = ${run_id}`
      const [open] = yield* sql<{ status: RunStatus }>`${set} AND status = 'running' RETURNING status`
      if (open !== undefined) return open.status
      const [run] = yield* sql<Counted & { readonly status: RunStatus; readonly bytes: number }>`
        SELECT env_id, project_id, project_name, run_type, status, start_time,
          coalesce(octet_length(logs), 0) AS bytes
        FROM runs WHERE env_id = ${env_id} AND run_id = ${run_id}`
      if (run?.status === "cancelled") {
        yield* set
        // Its run is already counted.
        const bytes = utf8Length(logs ?? "") - run.bytes
        yield* statements.countRuns.run(runCountRow.encode([{ ...run, n: 0, bytes, month: 0, month_runs: 0 }]))
      }
      return run?.status ?? null
    })

    const discard = makeDiscard(database)
    const advance = makeAdvance(database, statements, cancel)
    const { renew, fork } = makeRenewal(database, statements)

    return RunControlStore.of({
      cancel: (envId, which, at, limit) =>
        sql.withTransaction(cancel(envId, which, at, limit)).pipe(orUnavailable("cancel")),

      requestCleanup: (run, until, at) =>
        sql.withTransaction(requestCleanup(run, until, at)).pipe(orUnavailable("requestCleanup")),

      discard: (envId, which, after, limit) =>
        sql.withTransaction(discard(envId, which, after, limit)).pipe(orUnavailable("discard")),

      log: (logs) => sql.withTransaction(Effect.forEach(logs, log)).pipe(orUnavailable("log")),

      ended: (runs) =>
        Effect.forEach([...Map.groupBy(runs, (run) => run.env_id)], ([envId, members]) => {
          const ids = dialect.among(
            reader,
            members.map((run) => run.run_id)
          )
          return reader<{ run_id: RunId }>`
            SELECT run_id FROM runs WHERE env_id = ${envId} AND run_id ${ids} AND status <> 'running'`
        }).pipe(
          Effect.map((found) => found.flat().map(({ run_id }) => run_id)),
          orUnavailable("ended")
        ),

      redeliver: (delivery) =>
        sql
          .withTransaction(statements.insertDeliveries.run(deliveryRow.encode([toDeliveryRow(delivery)])))
          .pipe(Effect.asVoid, orUnavailable("redeliver")),

      renew: (renewal) =>
        sql.withTransaction(renew(renewal)).pipe(
          // The transaction holds the run, and the event is new. So the row counts are as expected.
          Effect.catchTag("UnexpectedRowCount", Effect.die),
          orUnavailable("renew")
        ),

      advance: (step) => sql.withTransaction(advance(step)).pipe(orUnavailable("advance")),

      fork: (forked) => sql.withTransaction(fork(forked)).pipe(orUnavailable("fork"))
    })
  })
)
