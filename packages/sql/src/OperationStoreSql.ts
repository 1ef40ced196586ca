/** `OperationStore` on SQL. */
import { NotFound } from "@weft/core"
import {
  type OperationRef,
  type OperationSelection,
  OperationStore,
  type OperationTarget,
  operationFormat,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Database, onlyRow, orUnavailable, readCount } from "./Database.ts"
import type { Dialect } from "./Dialect.ts"
import { makeRunCondition } from "./RunSearch.ts"
import { type OperationRow, operationColumns, toOperation, toOperationRow } from "./rows/OperationRows.ts"

export const layer: Layer.Layer<OperationStore, never, Database> = Layer.effect(
  OperationStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database
    const columns = reader.literal(operationColumns)
    const condition = makeCondition(reader, dialect)

    const cancel = Effect.fnUntraced(function* ({ env_id, operation_id }: OperationRef, at: Timestamp) {
      // A step of the operation has locked this row.
      const ended = yield* writer`UPDATE operations SET state = 'cancelled', waiting = NULL,
          ended_at = ${at}, lease_until = 0
        WHERE env_id = ${env_id} AND operation_id = ${operation_id} AND ended_at IS NULL RETURNING operation_id`
      if (ended.length > 0) return true
      const known = writer`SELECT 1 AS n FROM operations WHERE env_id = ${env_id} AND operation_id = ${operation_id}`
      yield* onlyRow(known, new NotFound({ resource: "operation" }))
      return false
    })

    const acquire = Effect.fnUntraced(function* (now: Timestamp, until: Timestamp) {
      const [free] = yield* writer<OperationRef>`SELECT env_id, operation_id FROM operations o
        WHERE ended_at IS NULL AND lease_until < ${now} AND format <= ${operationFormat} AND NOT EXISTS (
          SELECT 1 FROM operations older WHERE older.env_id = o.env_id AND older.ended_at IS NULL
            AND older.operation_id < o.operation_id)
        ORDER BY lease_until, operation_id LIMIT 1${writer.literal(dialect.skipLocked)}`
      if (free === undefined) return null
      const [row] = yield* writer<OperationRow>`UPDATE operations SET state = 'running', fence = fence + 1,
          lease_until = ${until}, started_at = coalesce(started_at, ${now})
        WHERE env_id = ${free.env_id} AND operation_id = ${free.operation_id} AND ended_at IS NULL
        RETURNING ${columns}`
      return row === undefined ? null : toOperation(row)
    })

    return OperationStore.of({
      insert: (operation, key) =>
        writer<OperationRow>`INSERT INTO operations ${writer.insert({ ...toOperationRow(operation), idempotency_key: key })}
          ON CONFLICT (env_id, idempotency_key) WHERE idempotency_key IS NOT NULL
          DO UPDATE SET idempotency_key = excluded.idempotency_key RETURNING ${columns}`.pipe(
          Effect.map(([stored]) => (stored === undefined ? operation : toOperation(stored))),
          orUnavailable("insert")
        ),

      // Read by the writer: a node reads its own operation after a write without an answer.
      get: (envId, id) =>
        onlyRow(
          writer<OperationRow>`SELECT ${columns} FROM operations WHERE env_id = ${envId} AND operation_id = ${id}`,
          new NotFound({ resource: "operation" })
        ).pipe(Effect.map(toOperation), orUnavailable("get")),

      list: (envId, { limit, offset }, { state, created_by }) => {
        const terms = [reader`env_id = ${envId}`]
        if (state !== undefined) terms.push(reader`state = ${state}`)
        if (created_by !== undefined) terms.push(reader`created_by = ${created_by}`)
        const where = reader.and(terms)
        return Effect.all({
          items: Effect.map(
            reader<OperationRow>`SELECT ${columns} FROM operations WHERE ${where}
              ORDER BY operation_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toOperation)
          ),
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM operations WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      countOpen: (envId) =>
        readCount(
          writer<{ n: number }>`SELECT count(*) AS n FROM operations WHERE env_id = ${envId} AND ended_at IS NULL`
        ).pipe(orUnavailable("countOpen")),

      cancel: (operation, at) => writer.withTransaction(cancel(operation, at)).pipe(orUnavailable("cancel")),

      acquire: (now, until) => writer.withTransaction(acquire(now, until)).pipe(orUnavailable("acquire")),

      release: ({ env_id, operation_id, fence }) =>
        writer`UPDATE operations SET lease_until = 0
          WHERE env_id = ${env_id} AND operation_id = ${operation_id} AND fence = ${fence}`.pipe(
          Effect.asVoid,
          orUnavailable("release")
        ),

      count: (selection) =>
        readCount(reader<{ n: number }>`SELECT count(*) AS n FROM runs WHERE ${condition(selection)}`).pipe(
          orUnavailable("count")
        ),

      targets: (selection, after, limit) => {
        const rest = after === null ? reader`1 = 1` : reader`run_id > ${after}`
        // With a plain order, a planner without statistics would not use the index of an event.
        const order = reader.literal(selection.filter.event_id === undefined ? "run_id" : "run_id || ''")
        return reader<TargetRow>`SELECT r.env_id, r.run_id, r.project_id, r.build_id, r.ns, r.var, r.event_id,
            r.activations, coalesce(octet_length(e.event_data), 0) AS event_bytes,
            CASE WHEN ${reader.literal(hasLaterRun)} OR ${reader.literal(hasDelivery)} THEN 1 ELSE 0 END AS is_retried
          FROM (SELECT ${reader.literal(examinedColumns)} FROM runs WHERE ${condition(selection)} AND ${rest}
            ORDER BY ${order} LIMIT ${limit}) r
          LEFT JOIN events e ON e.env_id = r.env_id AND e.event_id = r.event_id
          ORDER BY r.run_id`.pipe(
          Effect.map((rows) => rows.map((row): OperationTarget => ({ ...row, is_retried: row.is_retried === 1 }))),
          orUnavailable("targets")
        )
      },

      countDue: (envId, now, limit) =>
        readCount(reader<{ n: number }>`SELECT count(*) AS n FROM (
            SELECT 1 FROM deliveries WHERE env_id = ${envId} AND due_at <= ${now} LIMIT ${limit}
          ) AS counted`).pipe(orUnavailable("countDue")),

      forget: (before, limit) =>
        Effect.map(
          writer`DELETE FROM operations WHERE (env_id, operation_id) IN (
            SELECT env_id, operation_id FROM operations WHERE ended_at < ${before} ORDER BY ended_at LIMIT ${limit}
          ) RETURNING operation_id`,
          (removed) => removed.length
        ).pipe(orUnavailable("forget"))
    })
  })
)

type TargetRow = Omit<OperationTarget, "is_retried"> & { readonly is_retried: number }

const examinedColumns =
  "env_id, run_id, project_id, build_id, ns, var, event_id, activations, attempt, origin_run_id, run_type"

/** SQL of the run of the first attempt of `r`. */
const firstRun = "CASE WHEN r.attempt = 1 THEN r.run_id ELSE r.origin_run_id END"

/** SQL that is true if the delivery of `r` has a later attempt. The attempt after a lost run has the same number. */
const hasLaterRun = `EXISTS (SELECT 1 FROM runs n WHERE n.env_id = r.env_id AND n.event_id = r.event_id
  AND n.run_id > r.run_id AND n.project_id = r.project_id AND n.ns = r.ns AND n.var = r.var
  AND ((n.attempt > r.attempt AND n.origin_run_id = ${firstRun}) OR (n.attempt = r.attempt
    AND n.run_type = r.run_type AND coalesce(n.origin_run_id, '') = coalesce(r.origin_run_id, ''))))`

/** SQL that is true if the delivery of `r` waits for its next attempt. */
const hasDelivery = `EXISTS (SELECT 1 FROM deliveries d WHERE d.env_id = r.env_id AND d.first_run_id = ${firstRun})`

/** Returns the condition of a selection on `runs`. */
const makeCondition = (sql: SqlClient.SqlClient, dialect: Dialect) => {
  const runCondition = makeRunCondition(sql, dialect)
  return ({ env_id, kind, filter, functions, last_run_id }: OperationSelection): Statement.Fragment => {
    const { project, fn, event_id, event_type, since, ...listed } = filter
    const isRedrive = kind === "redrive"
    const ofRun = {
      ...listed,
      ...(event_id === undefined ? {} : { eventId: event_id }),
      ...(since === undefined || isRedrive ? {} : { since })
    }
    const terms = [runCondition(env_id, ofRun), sql`run_id <= ${last_run_id}`]
    // A literal, so that the planner matches the partial index of dead letters.
    if (isRedrive) terms.push(sql.literal("dead_since IS NOT NULL"))
    if (isRedrive && since !== undefined) terms.push(sql`dead_since >= ${since}`)
    if (event_type !== undefined) {
      terms.push(sql`(SELECT e.event_type FROM events e
        WHERE e.env_id = runs.env_id AND e.event_id = runs.event_id) = ${event_type}`)
    }
    if (project !== undefined) terms.push(sql`(project_id = ${project} OR project_name = ${project})`)
    for (const list of [fn === undefined ? null : [fn], functions]) {
      if (list === null) continue
      const among = dialect.among(sql, list)
      terms.push(sql`(ns || '/' || var ${among} OR project_name || ':' || ns || '/' || var ${among})`)
    }
    return sql.and(terms)
  }
}
