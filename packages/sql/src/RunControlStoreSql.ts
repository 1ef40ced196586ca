/** `RunControlStore` on SQL. */
import type { EnvId } from "@weft/core"
import {
  cancelRun,
  type EventId,
  parkedAt,
  type Run,
  RunControlStore,
  type RunId,
  type RunLog,
  type RunRef,
  type RunSelection,
  type RunStatus,
  type Timestamp,
  utf8Length
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { CountDeltas, type Counted } from "./CountDeltas.ts"
import { Database, orUnavailable } from "./Database.ts"
import { makeDiscard } from "./DeliveryDiscard.ts"
import type { Dialect, Rows } from "./Dialect.ts"
import { journalStatements } from "./JournalStatements.ts"
import { makeRenewal } from "./RunRenewal.ts"
import { runCountRow } from "./rows/CountRows.ts"
import { deliveryRow, toDeliveryRow } from "./rows/DeliveryRows.ts"
import { endRow, logsText, runColumns, runKeyRow, storedBytes, toEndRow } from "./rows/RunRows.ts"
import { clearWaiting } from "./rows/WorkflowRows.ts"
import { isRunning } from "./StatementText.ts"

export const layer: Layer.Layer<RunControlStore, never, Database> = Layer.effect(
  RunControlStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, reader, writer: sql } = database
    const statements = journalStatements(database)

    /** Deletes the deliveries that would continue suspended runs. Returns the keys of their groups. */
    const removeDeliveries = Effect.fnUntraced(function* (envId: EnvId, suspended: ReadonlyArray<Run>) {
      const groups = new Map<RunId, string | null>()
      if (suspended.length === 0) return groups
      const ids = dialect.texts(
        sql,
        suspended.map(({ run_id }) => run_id)
      )
      yield* sql`UPDATE runs SET ${sql.literal(clearWaiting)} WHERE env_id = ${envId} AND run_id IN (${ids})`
      const removed = yield* sql<{ continues: RunId; group_key: string | null }>`
        DELETE FROM deliveries WHERE env_id = ${envId} AND continues IN (${ids}) RETURNING continues, group_key`
      for (const { continues, group_key } of removed) groups.set(continues, group_key)
      return groups
    })

    /** Lists the events of the child runs that the runs wait for, by run. */
    const findChildren = Effect.fnUntraced(function* (envId: EnvId, durable: ReadonlyArray<Run>) {
      if (durable.length === 0) return new Map<RunId, ReadonlyArray<ChildOfRun>>()
      const ids = dialect.texts(
        sql,
        durable.map(({ run_id }) => run_id)
      )
      const found = yield* sql<ChildOfRun>`SELECT run_id, child_event_id FROM workflow_waits
        WHERE env_id = ${envId} AND run_id IN (${ids}) AND child_event_id IS NOT NULL AND outcome IS NULL`
      return Map.groupBy(found, ({ run_id }) => run_id)
    })

    const cancel = Effect.fnUntraced(function* (envId: EnvId, which: RunSelection, at: Timestamp, limit: number) {
      const found = yield* sql<Run & RunningRow>`
        SELECT ${sql.literal(runColumns)}, delivery_id, group_key, logs FROM runs
        WHERE ${toCondition(sql, dialect, envId, which)} ORDER BY run_id LIMIT ${limit}${sql.literal(dialect.forUpdate())}`
      // As when an event arrives, waits are locked before deliveries.
      const durable = found.filter(({ activations }) => activations !== null)
      const children = yield* findChildren(envId, durable)
      yield* statements.deleteWaitsOfRuns.run(runKeyRow.encode(durable))
      const suspended = found.filter(({ waiting }) => waiting !== null)
      const groups = yield* removeDeliveries(envId, suspended)
      const ends: Rows = []
      const cancelled = found.map(({ delivery_id, group_key, logs, ...row }) => {
        const run = cancelRun(row, at)
        endRow.append(ends, toEndRow(run, logs, delivery_id))
        return { run, group: group_key ?? groups.get(run.run_id) ?? null, bytes: storedBytes(run, logs) }
      })
      // Some runs may have ended since they were read.
      const over = new Set((yield* statements.endRuns.returning(ends)).map(({ run_id }) => run_id))
      const counted = cancelled.filter(({ run }) => over.has(run.run_id))
      const deltas = new CountDeltas()
      for (const { run, bytes } of counted) deltas.addEndedRun(run, bytes)
      yield* statements.countRuns.run(deltas.runRows())
      return counted.map(({ run, group }) => ({
        ...{ run, group },
        children: (children.get(run.run_id) ?? []).map(({ child_event_id }) => child_event_id)
      }))
    })

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
          const ids = dialect.texts(
            reader,
            members.map((run) => run.run_id)
          )
          return reader<{ run_id: RunId }>`
            SELECT run_id FROM runs WHERE env_id = ${envId} AND run_id IN (${ids}) AND status <> 'running'`
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

      fork: (forked) => sql.withTransaction(fork(forked)).pipe(orUnavailable("fork"))
    })
  })
)

interface ChildOfRun {
  readonly run_id: RunId
  readonly child_event_id: EventId
}

interface RunningRow {
  readonly delivery_id: string | null
  readonly group_key: string | null
  readonly logs: string | null
}

const toCondition = (
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  envId: EnvId,
  { runId, projectId, type, since, until, eventId, functions }: RunSelection
): Statement.Fragment => {
  // A literal, so that the planner matches the partial index of running runs.
  const terms: Array<Statement.Fragment> = [sql`env_id = ${envId}`, sql.literal("status = 'running'")]
  if (runId !== undefined) terms.push(sql`run_id = ${runId}`)
  if (projectId !== undefined) terms.push(sql`project_id = ${projectId}`)
  if (type !== undefined) terms.push(sql`run_type = ${type}`)
  if (since !== undefined) terms.push(sql`start_time >= ${since}`)
  if (until !== undefined) terms.push(sql`start_time <= ${until}`)
  if (eventId !== undefined) terms.push(sql`event_id = ${eventId}`)
  if (functions !== undefined) {
    const names = dialect.texts(sql, functions)
    terms.push(sql`(ns || '/' || var IN (${names}) OR project_name || ':' || ns || '/' || var IN (${names}))`)
  }
  return sql.and(terms)
}
