/**
 * Groups of deliveries whose runs share a limit, in the transaction of the caller.
 *
 * Who looks for room in a group holds the group's name until its transaction ends: two that looked at once could
 * each take the last room, and what one parks could be what the other was to let in.
 */
import { Delivery, type DeliveryId, type Group, parkedAt, roomFor, type Timestamp } from "@weft/core"
import { Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { countOf, type Database } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import type { JournalStatements } from "./JournalStatements.ts"

/** Deliveries that one group gives up in one claim, so that others can write soon. */
const parkMax = 1000

/** A delivery that waits, and is due or parked. */
type WaitingRow = Pick<Delivery, "delivery_id" | "due_at"> & { readonly terms: string }

/** Where in the text the index on parked deliveries is to be found. */
const parked = `due_at = ${parkedAt}`

/** Of these due deliveries, those for which their groups have no room: parked with others like them; how many in all. */
export const parkFull = Effect.fnUntraced(function* (
  database: Database["Service"],
  seen: ReadonlyArray<Pick<Delivery, "delivery_id" | "env_id"> & { readonly group_key: string | null }>,
  now: Timestamp
): Effect.fn.Return<{ readonly closed: ReadonlySet<DeliveryId>; readonly parked: number }, SqlError.SqlError> {
  const closed = new Set<DeliveryId>()
  let count = 0
  const byGroup = Map.groupBy(
    seen.filter((row) => row.group_key !== null),
    ({ env_id, group_key }) => nameOf({ env_id, key: group_key ?? "" })
  )
  yield* hold(database, [...byGroup.keys()])
  for (const [, members] of byGroup) {
    const [first] = members
    if (first === undefined || first.group_key === null) continue
    const group = { env_id: first.env_id, key: first.group_key }
    const last = (yield* admitted(database, group, now)).at(-1)?.delivery_id ?? ""
    // A delivery is let in only after all older ones of its group.
    const late = members.filter((row) => row.delivery_id > last)
    if (late.length === 0) continue
    for (const { delivery_id } of late) closed.add(delivery_id)
    count += yield* park(database, group, last, now)
  }
  return { closed, parked: count }
})

/** Makes those parked deliveries of the groups due for which there is room; how many. */
export const unparkGroups = Effect.fnUntraced(function* (
  database: Database["Service"],
  statements: JournalStatements,
  groups: ReadonlyArray<Group>,
  now: Timestamp
): Effect.fn.Return<number, SqlError.SqlError> {
  const rows: Rows = []
  yield* hold(database, groups.map(nameOf))
  for (const group of groups) {
    if (!(yield* hasParked(database, group))) continue
    const members = yield* admitted(database, group, now)
    for (const { delivery_id, due_at } of members) if (due_at === parkedAt) rows.push(group.env_id, delivery_id, now)
  }
  return yield* statements.unpark.run(rows)
})

/** The groups after `after` that have parked deliveries, found by stepping from one to the next. */
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

/** Mostly none waits, and this is all that there is to ask. */
const hasParked = ({ writer: sql }: Database["Service"], { env_id, key }: Group) =>
  Effect.map(
    sql`SELECT 1 FROM deliveries WHERE env_id = ${env_id} AND group_key = ${key} AND ${sql.literal(parked)} LIMIT 1`,
    (rows) => rows.length > 0
  )

/** The waiting deliveries of the group for which there is room, the oldest first. */
const admitted = Effect.fnUntraced(function* (
  { writer: sql }: Database["Service"],
  group: Group,
  now: Timestamp
): Effect.fn.Return<ReadonlyArray<WaitingRow>, SqlError.SqlError> {
  const running = yield* countOf(
    sql<{ n: number }>`SELECT count(*) AS n FROM runs WHERE env_id = ${group.env_id} AND group_key = ${group.key}`
  )
  // Mostly there is room for one or none. Each round looks at twice as many.
  for (let most = 2; ; most *= 2) {
    const oldest = yield* oldestOf(sql, group, now, most)
    const room = roomFor(
      oldest.map((row) => limitOf(row.terms)),
      running
    )
    if (room < oldest.length || oldest.length < most) return oldest.slice(0, room)
  }
})

/** The oldest deliveries of the group that are due or parked. */
const oldestOf = (sql: SqlClient.SqlClient, { env_id, key }: Group, now: Timestamp, most: number) =>
  sql<WaitingRow>`
    SELECT delivery_id, due_at, terms FROM deliveries
    WHERE env_id = ${env_id} AND group_key = ${key} AND (due_at <= ${now} OR ${sql.literal(parked)})
    ORDER BY delivery_id LIMIT ${most}`

const nameOf = ({ env_id, key }: Group): string => `${env_id} ${key}`

/** Holds the names of groups, in one order everywhere, so that nobody waits for each other in a circle. */
const hold = ({ dialect, writer: sql }: Database["Service"], names: ReadonlyArray<string>) =>
  names.length === 0 ? Effect.void : dialect.hold(sql, [...names].sort())

/** Parks deliveries of the group that are due and younger than `last`; how many. */
const park = ({ dialect, writer: sql }: Database["Service"], { env_id, key }: Group, last: string, now: Timestamp) =>
  Effect.map(
    sql`UPDATE deliveries SET due_at = ${parkedAt}
      WHERE (env_id, due_at, delivery_id) IN (
        SELECT env_id, due_at, delivery_id FROM deliveries
        WHERE env_id = ${env_id} AND group_key = ${key} AND due_at <= ${now} AND delivery_id > ${last}
        ORDER BY due_at, delivery_id LIMIT ${parkMax}${sql.literal(dialect.skipLocked)}
      )`.raw,
    dialect.changes
  )

const Limited = Schema.fromJsonString(Schema.Struct({ group: Delivery.fields.group }))
const decodeLimited = Schema.decodeSync(Limited)

const limitOf = (terms: string): number => decodeLimited(terms).group?.limit ?? 0
