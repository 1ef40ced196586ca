/** Discards pending deliveries, in the caller's transaction. */
import type { EnvId } from "@weft/core"
import type {
  DeliveryId,
  DeliveryPosition,
  DeliverySelection,
  DiscardedDelivery,
  DiscardResult
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { batched } from "./Batch.ts"
import type { Database } from "./Database.ts"
import type { Dialect } from "./Dialect.ts"
import { pendingRow } from "./rows/DeliveryRows.ts"

interface ExaminedRow extends DiscardedDelivery, DeliveryPosition {
  readonly selected: number
}

/**
 * Returns a function that examines at most `limit` deliveries after `after`, and discards the selected ones. Its cost
 * does not depend on the number of pending deliveries. It waits for no lock: a delivery that another transaction claims,
 * parks or unparks stays.
 */
export const makeDiscard = ({ dialect, writer: sql }: Database["Service"]) => {
  const discardFree = batched<{ readonly delivery_id: DeliveryId }>(sql, dialect, {
    row: pendingRow,
    text: (rows) => `DELETE FROM deliveries WHERE (${pendingRow.list}) IN (
        SELECT ${pendingRow.list} FROM deliveries WHERE (${pendingRow.list}) IN (${rows})${dialect.skipLocked}
      )`,
    returns: "delivery_id"
  })

  return Effect.fnUntraced(function* (
    envId: EnvId,
    which: DeliverySelection,
    after: DeliveryPosition | null,
    limit: number
  ): Effect.fn.Return<DiscardResult, SqlError.SqlError> {
    // The calls by one event are in an index. Other selections examine all deliveries in order.
    const only = which.callBy === undefined ? sql`1 = 1` : toCondition(sql, dialect, { callBy: which.callBy })
    const rest = after === null ? sql`1 = 1` : sql`(d.due_at, d.delivery_id) > (${after.due_at}, ${after.delivery_id})`
    const examined = yield* sql<ExaminedRow>`
      SELECT d.due_at, d.delivery_id, d.event_id, d.stream_id, e.event_type, d.group_key AS "group",
        CASE WHEN ${toCondition(sql, dialect, which)} THEN 1 ELSE 0 END AS selected
      FROM deliveries d JOIN events e ON e.env_id = d.env_id AND e.event_id = d.event_id
      WHERE d.env_id = ${envId} AND ${only} AND ${rest} ORDER BY d.due_at, d.delivery_id LIMIT ${limit}`
    const selected = examined.filter((row) => row.selected === 1)
    const rows = pendingRow.encode(selected.map(({ due_at, delivery_id }) => ({ env_id: envId, due_at, delivery_id })))
    const gone = new Set((yield* discardFree.returning(rows)).map((row) => row.delivery_id))
    const last = examined.length < limit ? undefined : examined.at(-1)
    return {
      discarded: selected.filter((row) => gone.has(row.delivery_id)).map(toDiscarded),
      next: last === undefined ? null : { due_at: last.due_at, delivery_id: last.delivery_id }
    }
  })
}

const toDiscarded = ({ delivery_id, event_id, stream_id, event_type, group }: ExaminedRow): DiscardedDelivery => ({
  delivery_id,
  event_id,
  stream_id,
  event_type,
  group
})

const toCondition = (
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  { projectId, project, eventType, callBy, functions = [], before }: DeliverySelection
): Statement.Fragment => {
  // The delivery of a suspended run belongs to its run, which only ends by `cancel`.
  const terms: Array<Statement.Fragment> = [sql`d.continues IS NULL`]
  if (projectId !== undefined) terms.push(sql`d.project_id = ${projectId}`)
  if (project !== undefined) terms.push(sql`(d.project_id = ${project} OR d.project_name = ${project})`)
  if (eventType !== undefined) terms.push(sql`e.event_type = ${eventType}`)
  if (callBy !== undefined) terms.push(sql`d.run_type = 'call' AND d.event_id = ${callBy}`)
  if (before !== undefined) terms.push(sql`d.delivery_id < ${before}`)
  for (const list of functions) {
    const among = dialect.among(sql, list)
    terms.push(sql`(d.ns || '/' || d.var ${among} OR d.project_name || ':' || d.ns || '/' || d.var ${among})`)
  }
  return sql.and(terms)
}
