/** Cancellation of running runs, in the caller's transaction. */
import type { EnvId } from "@weft/core"
import {
  type CancelledRun,
  cancelRun,
  type EventId,
  type Run,
  type RunId,
  type RunSelection,
  type Timestamp
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { CountDeltas } from "./CountDeltas.ts"
import type { Database } from "./Database.ts"
import type { Dialect, Rows } from "./Dialect.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { endRow, runColumns, runKeyRow, storedBytes, toEndRow } from "./rows/RunRows.ts"
import { clearWaiting } from "./rows/WorkflowRows.ts"

/** Returns a function that ends the selected runs, at most `limit`, and deletes their deliveries. */
export const makeCancelRuns = ({ dialect, writer: sql }: Database["Service"], statements: JournalStatements) => {
  /** Deletes the deliveries that would continue suspended runs. Returns the keys of their groups. */
  const removeDeliveries = Effect.fnUntraced(function* (envId: EnvId, suspended: ReadonlyArray<Run>) {
    const groups = new Map<RunId, string | null>()
    if (suspended.length === 0) return groups
    const ids = dialect.among(
      sql,
      suspended.map(({ run_id }) => run_id)
    )
    yield* sql`UPDATE runs SET ${sql.literal(clearWaiting)} WHERE env_id = ${envId} AND run_id ${ids}`
    const removed = yield* sql<{ continues: RunId; group_key: string | null }>`
      DELETE FROM deliveries WHERE env_id = ${envId} AND continues ${ids} RETURNING continues, group_key`
    for (const { continues, group_key } of removed) groups.set(continues, group_key)
    return groups
  })

  /** Lists the events of the child runs that the runs wait for, by run. */
  const findChildren = Effect.fnUntraced(function* (envId: EnvId, durable: ReadonlyArray<Run>) {
    if (durable.length === 0) return new Map<RunId, ReadonlyArray<ChildOfRun>>()
    const ids = dialect.among(
      sql,
      durable.map(({ run_id }) => run_id)
    )
    const found = yield* sql<ChildOfRun>`SELECT run_id, child_event_id FROM workflow_waits
      WHERE env_id = ${envId} AND run_id ${ids} AND child_event_id IS NOT NULL AND outcome IS NULL`
    return Map.groupBy(found, ({ run_id }) => run_id)
  })

  return Effect.fnUntraced(function* (
    envId: EnvId,
    which: RunSelection,
    at: Timestamp,
    limit: number,
    message?: string
  ): Effect.fn.Return<ReadonlyArray<CancelledRun>, SqlError.SqlError> {
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
      const run = cancelRun(row, at, message)
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
}

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
  { runId, projectId, type, since, until, eventId, functions, runIds }: RunSelection
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
    const among = dialect.among(sql, functions)
    terms.push(sql`(ns || '/' || var ${among} OR project_name || ':' || ns || '/' || var ${among})`)
  }
  if (runIds !== undefined) terms.push(sql`run_id ${dialect.among(sql, runIds)}`)
  return sql.and(terms)
}
