/** `DeliveryStore` on SQL. */
import type { EnvId } from "@weft/core"
import { Delivery, DeliveryStore, type PendingDelivery, type PendingFilter, type Timestamp } from "@weft/core/adapter"
import { Effect, Layer, Schema, Struct } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Database, orUnavailable, readCount } from "./Database.ts"
import type { Dialect } from "./Dialect.ts"

type PendingRow = Omit<PendingDelivery, "throttle" | "batch"> & { readonly terms: string }

export const layer: Layer.Layer<DeliveryStore, never, Database> = Layer.effect(
  DeliveryStore,
  Effect.gen(function* () {
    const { dialect, reader, exclusive } = yield* Database

    return DeliveryStore.of({
      list: (envId, { limit, offset }, filter) =>
        reader<PendingRow>`SELECT d.delivery_id, d.event_id, d.project_id, d.project_name, d.ns, d.var, d.attempt,
            d.due_at, d.group_key, d.first_run_id, d.continues, d.held_since, d.terms, e.event_type, e.event_time,
            e.created_at,
            CASE WHEN d.first_run_id IS NOT NULL THEN (SELECT max(r.stop_time) FROM runs r
              WHERE r.env_id = d.env_id AND r.event_id = d.event_id AND r.project_id = d.project_id
                AND r.ns = d.ns AND r.var = d.var) END AS last_stop,
            CASE WHEN d.continues IS NOT NULL THEN (SELECT r.waiting FROM runs r
              WHERE r.env_id = d.env_id AND r.run_id = d.continues) END AS run_waiting
          FROM deliveries d JOIN events e ON e.env_id = d.env_id AND e.event_id = d.event_id
          WHERE ${toCondition(reader, dialect, envId, filter)}
          ORDER BY d.due_at, d.delivery_id LIMIT ${limit} OFFSET ${offset}`.pipe(
          Effect.map((rows) => rows.map(({ terms, ...row }) => ({ ...row, ...decodeHolds(terms) }))),
          orUnavailable("list")
        ),

      count: (envId, filter, limit) => {
        // Without a filter by event type, the query reads only the index of the deliveries.
        const event =
          filter.eventType === undefined
            ? reader``
            : reader`JOIN events e ON e.env_id = d.env_id AND e.event_id = d.event_id`
        return readCount(
          reader<{ n: number }>`SELECT count(*) AS n FROM (
            SELECT 1 FROM deliveries d ${event} WHERE ${toCondition(reader, dialect, envId, filter)} LIMIT ${limit}
          ) AS counted`
        ).pipe(orUnavailable("count"))
      },

      downSince: (nodeId, now) =>
        exclusive
          ? Effect.succeed(null)
          : reader<{ until: Timestamp }>`SELECT until FROM leases WHERE node_id = ${nodeId}`.pipe(
              Effect.map(([lease]) => (lease === undefined ? now : lease.until < now ? lease.until : null)),
              orUnavailable("downSince")
            )
    })
  })
)

const decodeHolds = Schema.decodeSync(
  Schema.fromJsonString(Schema.Struct(Struct.pick(Delivery.fields, ["throttle", "batch"])))
)

const toCondition = (
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  envId: EnvId,
  { only, project, functions = [], eventType, eventId, deliveryId, continues }: PendingFilter
): Statement.Fragment => {
  const terms: Array<Statement.Fragment> = [sql`d.env_id = ${envId}`]
  if (only !== undefined) {
    const among = dialect.among(sql, only)
    terms.push(sql`(d.project_id ${among} OR d.project_name ${among})`)
  }
  if (project !== undefined) terms.push(sql`(d.project_id = ${project} OR d.project_name = ${project})`)
  for (const list of functions) {
    const among = dialect.among(sql, list)
    terms.push(sql`(d.ns || '/' || d.var ${among} OR d.project_name || ':' || d.ns || '/' || d.var ${among})`)
  }
  if (eventType !== undefined) terms.push(sql`e.event_type = ${eventType}`)
  if (eventId !== undefined) {
    terms.push(sql`(d.event_id = ${eventId} OR (d.event_id IN (
      SELECT first_event_id FROM batch_events WHERE env_id = ${envId} AND event_id = ${eventId}
    ) AND d.terms LIKE ${`%"${eventId}"%`}))`)
  }
  if (deliveryId !== undefined) terms.push(sql`d.delivery_id = ${deliveryId}`)
  if (continues === null) terms.push(sql`d.continues IS NULL`)
  else if (continues !== undefined) terms.push(sql`d.continues = ${continues}`)
  return sql.and(terms)
}
