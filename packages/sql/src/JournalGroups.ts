/**
 * Concurrency groups: deliveries whose runs share a limit. All functions run in the caller's transaction.
 *
 * A transaction that counts the free slots of a group holds the group's advisory lock until it ends. Otherwise two
 * transactions could both take the last slot, or one could park a delivery that the other should start.
 */
import { Delivery, type DeliveryId, type Group, parkedAt, roomFor, type Timestamp } from "@weft/core/adapter"
import { Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { type Database, readCount } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { unparkRow } from "./rows/DeliveryRows.ts"

/** Maximum deliveries that a claim parks per group, so that its locks are short. */
const parkMax = 1000

/** A pending delivery that is due or parked. */
type WaitingRow = Pick<Delivery, "delivery_id" | "due_at"> & { readonly terms: string }

/** Condition of the partial index on parked deliveries. A literal, because the planner matches the text. */
const parked = `due_at = ${parkedAt}`

/**
 * Parks due deliveries of groups that are at their limit. Returns those of `seen` that must not start, and the number
 * of all parked deliveries.
 */
export const parkFullGroups = Effect.fnUntraced(function* (
  database: Database["Service"],
  seen: ReadonlyArray<Pick<Delivery, "delivery_id" | "env_id"> & { readonly group_key: string | null }>,
  now: Timestamp
): Effect.fn.Return<{ readonly blocked: ReadonlySet<DeliveryId>; readonly parked: number }, SqlError.SqlError> {
  const blocked = new Set<DeliveryId>()
  let count = 0
  const byGroup = Map.groupBy(
    seen.filter((row) => row.group_key !== null),
    ({ env_id, group_key }) => toLockName({ env_id, key: group_key ?? "" })
  )
  yield* lockGroups(database, [...byGroup.keys()])
  for (const [, members] of byGroup) {
    const [first] = members
    if (first === undefined || first.group_key === null) continue
    const group = { env_id: first.env_id, key: first.group_key }
    const last = (yield* selectRunnable(database, group, now)).at(-1)?.delivery_id ?? ""
    // A delivery starts only after all older ones of its group.
    const late = members.filter((row) => row.delivery_id > last)
    if (late.length === 0) continue
    for (const { delivery_id } of late) blocked.add(delivery_id)
    count += yield* park(database, group, last, now)
  }
  return { blocked, parked: count }
})

/** Makes as many parked deliveries due as the groups have free slots. Returns their number. */
export const unparkGroups = Effect.fnUntraced(function* (
  database: Database["Service"],
  statements: JournalStatements,
  groups: ReadonlyArray<Group>,
  now: Timestamp
): Effect.fn.Return<number, SqlError.SqlError> {
  const rows: Rows = []
  yield* lockGroups(database, groups.map(toLockName))
  for (const group of groups) {
    if (!(yield* hasParked(database, group))) continue
    const members = yield* selectRunnable(database, group, now)
    for (const { delivery_id, due_at } of members) {
      if (due_at === parkedAt) unparkRow.append(rows, { env_id: group.env_id, delivery_id, due_at: now })
    }
  }
  return yield* statements.unpark.run(rows)
})

/** Returns groups with parked deliveries, after `after`. Skips from one group to the next in the index. */
export const parkedGroups = Effect.fnUntraced(function* (
  { reader: sql }: Database["Service"],
  after: Group | null,
  limit: number
): Effect.fn.Return<ReadonlyArray<Group>, SqlError.SqlError> {
  const groups: Array<Group> = []
  let last = after ?? { env_id: "", key: "" }
  while (groups.length < limit) {
    const [next] = yield* sql<Group>`
      SELECT env_id, group_key AS key FROM deliveries
      WHERE ${sql.literal(parked)} AND (env_id, group_key) > (${last.env_id}, ${last.key})
      ORDER BY env_id, group_key LIMIT 1`
    if (next === undefined) break
    groups.push(next)
    last = next
  }
  return groups
})

/** True if a delivery of the group is parked. Mostly none is, so this is the only query for the group. */
const hasParked = ({ writer: sql }: Database["Service"], { env_id, key }: Group) =>
  Effect.map(
    sql`SELECT 1 FROM deliveries WHERE env_id = ${env_id} AND group_key = ${key} AND ${sql.literal(parked)} LIMIT 1`,
    (rows) => rows.length > 0
  )

/** Returns the pending deliveries of the group that its limit allows to start, the oldest first. */
const selectRunnable = Effect.fnUntraced(function* (
  { writer: sql }: Database["Service"],
  group: Group,
  now: Timestamp
): Effect.fn.Return<ReadonlyArray<WaitingRow>, SqlError.SqlError> {
  const running = yield* readCount(
    sql<{ n: number }>`SELECT count(*) AS n FROM runs WHERE env_id = ${group.env_id} AND group_key = ${group.key}`
  )
  // Mostly at most one slot is free. Each round reads twice as many rows.
  for (let max = 2; ; max *= 2) {
    const oldest = yield* selectOldest(sql, group, now, max)
    const slots = roomFor(
      oldest.map((row) => parseLimit(row.terms)),
      running
    )
    if (slots < oldest.length || oldest.length < max) return oldest.slice(0, slots)
  }
})

/** Returns the oldest deliveries of the group that are due or parked. */
const selectOldest = (sql: SqlClient.SqlClient, { env_id, key }: Group, now: Timestamp, limit: number) =>
  sql<WaitingRow>`
    SELECT delivery_id, due_at, terms FROM deliveries
    WHERE env_id = ${env_id} AND group_key = ${key} AND (due_at <= ${now} OR ${sql.literal(parked)})
    ORDER BY delivery_id LIMIT ${limit}`

const toLockName = ({ env_id, key }: Group): string => `${env_id} ${key}`

/** Acquires the advisory locks of groups, always in the same order so that transactions cannot deadlock. */
const lockGroups = ({ dialect, writer: sql }: Database["Service"], names: ReadonlyArray<string>) =>
  names.length === 0 ? Effect.void : dialect.advisoryLock(sql, [...names].sort())

/** Parks due deliveries of the group that are younger than `last`. Returns their number. */
const park = ({ dialect, writer: sql }: Database["Service"], { env_id, key }: Group, last: string, now: Timestamp) =>
  Effect.map(
    sql`WITH younger AS MATERIALIZED (
        SELECT env_id, due_at, delivery_id FROM deliveries
        WHERE env_id = ${env_id} AND group_key = ${key} AND due_at <= ${now} AND delivery_id > ${last}
        ORDER BY due_at, delivery_id LIMIT ${parkMax}${sql.literal(dialect.skipLocked)}
      ) UPDATE deliveries SET due_at = ${parkedAt}, held_since = coalesce(held_since, ${now})
      WHERE (env_id, due_at, delivery_id) IN (SELECT env_id, due_at, delivery_id FROM younger)`.raw,
    dialect.changes
  )

const Limited = Schema.fromJsonString(Schema.Struct({ group: Delivery.fields.group }))
const decodeLimited = Schema.decodeSync(Limited)

const parseLimit = (terms: string): number => decodeLimited(terms).group?.limit ?? 0
