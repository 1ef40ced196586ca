/**
 * Partitions by time of the tables that grow for ever: `runs` and `events`, by their ids, which tell when they were
 * made. They are named after their first day.
 *
 * A partition is made weeks before the first row for it comes. Rows of any other time, from nodes whose clocks are
 * wrong, are in the DEFAULT partition; a new one takes over those that belong to it. Each node sees to the time that
 * its own clock tells, and one makes partitions at a time, so that clocks and options that differ do no harm.
 */
import { leastIdAt, RunId, timeOfUuidV7 } from "@weft/core"
import { Cause, Clock, Duration, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { missing, needed, type Range } from "./PartitionRanges.ts"
import { postgres } from "./PostgresDialect.ts"
import type { Resolved } from "./PostgresOptions.ts"
import { isImpatience } from "./Troubles.ts"

export interface Partitioned {
  readonly table: "runs" | "events"
  /** The column of the ids by which its rows are spread. */
  readonly column: "run_id" | "event_id"
}

export const partitioned: ReadonlyArray<Partitioned> = [
  { table: "runs", column: "run_id" },
  { table: "events", column: "event_id" }
]

export interface Partition extends Range {
  readonly table: string
  readonly name: string
}

/** The partitions, but for the DEFAULT ones. */
export const listPartitions = (sql: SqlClient.SqlClient): Effect.Effect<ReadonlyArray<Partition>, SqlError.SqlError> =>
  Effect.map(
    sql<{ readonly table: string; readonly name: string; readonly bound: string }>`
      SELECT parent.relname::text AS table, part.relname::text AS name,
        pg_get_expr(part.relpartbound, part.oid) AS bound
      FROM pg_inherits i JOIN pg_class part ON part.oid = i.inhrelid JOIN pg_class parent ON parent.oid = i.inhparent
      WHERE i.inhparent IN (to_regclass('runs'), to_regclass('events'))`,
    (rows) =>
      rows.flatMap(({ table, name, bound }) => {
        const [, from, to] = boundPattern.exec(bound) ?? []
        return from === undefined || to === undefined
          ? []
          : [{ table, name, from: timeOfUuidV7(from), to: timeOfUuidV7(to) }]
      })
  )

const boundPattern = /^FOR VALUES FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)$/

/** Waits until nobody else makes or removes partitions of this schema, until the transaction ends. */
export const holdPartitions = (sql: SqlClient.SqlClient, schema: string) =>
  postgres.hold(sql, [`weft partitions of ${schema}`])

/**
 * How long a change of partitions waits for those that use the table, who would all wait behind it: a moment. It is
 * tried again.
 */
export const lockPatience = "SET LOCAL lock_timeout = '500ms'"

/** Makes the partitions that are missing for the present and the near future: mostly none. */
const makePartitions = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: string, days: number) {
  const range = needed(yield* Clock.currentTimeMillis, days)
  const existing = yield* listPartitions(sql)
  for (const kind of partitioned) {
    if (missingOf(existing, kind, range, days).length === 0) continue
    // One in a transaction: nobody waits for more than that.
    while (yield* sql.withTransaction(makeNext(sql, schema, kind, range, days)));
  }
})

const missingOf = (existing: ReadonlyArray<Partition>, { table }: Partitioned, range: Range, days: number) =>
  missing(
    existing.filter((partition) => partition.table === table),
    range,
    days
  )

/** Makes the next partition that is missing; whether there was one. */
const makeNext = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: string,
  kind: Partitioned,
  range: Range,
  days: number
) {
  yield* holdPartitions(sql, schema)
  const [next] = missingOf(yield* listPartitions(sql), kind, range, days)
  if (next === undefined) return false
  yield* sql.unsafe(lockPatience)
  yield* make(sql, kind, next)
  return true
})

/** They are cleaned while they are small, and before the visibility of half of their rows is unknown. */
const storage = `autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1,
  autovacuum_analyze_scale_factor = 0.05`

/** ATTACH, unlike CREATE TABLE … PARTITION OF, lets others use the table meanwhile; all but the DEFAULT partition. */
const make = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { table, column }: Partitioned, range: Range) {
  const name = `${table}_${new Date(range.from).toISOString().slice(0, 10).replaceAll("-", "")}`
  const [from, to] = [leastIdAt(RunId, range.from), leastIdAt(RunId, range.to)]
  yield* sql.unsafe(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL EXCLUDING INDEXES) WITH (${storage})`)
  yield* sql.unsafe(`LOCK TABLE ${table}_default IN ACCESS EXCLUSIVE MODE`)
  yield* sql.unsafe(`WITH moved AS (
      DELETE FROM ${table}_default WHERE ${column} >= '${from}' AND ${column} < '${to}' RETURNING *
    ) INSERT INTO ${name} SELECT * FROM moved`)
  yield* sql.unsafe(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`)
})

const every = Duration.hours(6)
const again = Duration.minutes(5)

/**
 * Makes what is missing by `now`, and from time to time by `later`, until the scope ends. Whoever uses the tables comes
 * first: then it is tried again soon.
 */
export const keepPartitions = Effect.fnUntraced(function* (
  now: SqlClient.SqlClient,
  later: SqlClient.SqlClient,
  { schema, partitionDays }: Resolved
) {
  let wait = yield* makePartitions(now, schema, partitionDays).pipe(
    Effect.as(every),
    Effect.catchIf(isImpatience, () => Effect.succeed(again))
  )
  const pass = makePartitions(later, schema, partitionDays).pipe(
    Effect.as(every),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.as(Effect.logWarning("Partitions could not be made", Cause.squash(cause)), again)
    )
  )
  yield* Effect.suspend(() => Effect.sleep(wait)).pipe(
    Effect.andThen(pass),
    Effect.tap((next) =>
      Effect.sync(() => {
        wait = next
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )
})
