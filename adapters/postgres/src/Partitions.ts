/**
 * Time partitions of the tables that grow without a bound: `runs` and `events`. The key is the id, which contains its
 * creation time. Partitions are named after their first day.
 *
 * A partition is created weeks before its first row. Rows of any other time, from nodes with wrong clocks, are in the
 * DEFAULT partition. A new partition takes over the rows that belong to it. Each node creates partitions for the time
 * of its own clock, one node at a time. Clocks and options may therefore differ between nodes.
 */
import { leastIdAt, RunId, timeOfUuidV7 } from "@weft/core/adapter"
import { Cause, Clock, Duration, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { missingRanges, type Range, requiredRange } from "./PartitionRanges.ts"
import { postgres } from "./PostgresDialect.ts"
import { isLockTimeout } from "./PostgresErrors.ts"
import type { Resolved } from "./PostgresOptions.ts"

export interface Partitioned {
  readonly table: "runs" | "events"
  /** The id column that is the partition key. */
  readonly column: "run_id" | "event_id"
}

const partitioned: ReadonlyArray<Partitioned> = [
  { table: "runs", column: "run_id" },
  { table: "events", column: "event_id" }
]

export interface Partition extends Range {
  readonly table: string
  readonly name: string
}

/** Lists the partitions, except the DEFAULT ones. */
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

/** Acquires the advisory lock for changes of this schema's partitions until the transaction ends. */
export const lockPartitions = (sql: SqlClient.SqlClient, schema: string) =>
  postgres.advisoryLock(sql, [`weft partitions of ${schema}`])

/** Lock timeout of a change of partitions. Short, because all other statements queue behind it; it is retried. */
export const lockTimeout = "SET LOCAL lock_timeout = '500ms'"

/** Creates missing partitions for now and the near future. Mostly none is missing. */
const createPartitions = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: string, days: number) {
  const range = requiredRange(yield* Clock.currentTimeMillis, days)
  const existing = yield* listPartitions(sql)
  for (const kind of partitioned) {
    if (listMissing(existing, kind, range, days).length === 0) continue
    // One per transaction, so that locks are short.
    while (yield* sql.withTransaction(createNext(sql, schema, kind, range, days)));
  }
})

const listMissing = (existing: ReadonlyArray<Partition>, { table }: Partitioned, range: Range, days: number) =>
  missingRanges(
    existing.filter((partition) => partition.table === table),
    range,
    days
  )

/** Creates the next missing partition. Returns false if none is missing. */
const createNext = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: string,
  kind: Partitioned,
  range: Range,
  days: number
) {
  yield* lockPartitions(sql, schema)
  const [next] = listMissing(yield* listPartitions(sql), kind, range, days)
  if (next === undefined) return false
  yield* sql.unsafe(lockTimeout)
  yield* createPartition(sql, kind, next)
  return true
})

/** Storage parameters of a partition: earlier vacuum, so that most of its pages stay marked as all-visible. */
const storage = `autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1,
  autovacuum_analyze_scale_factor = 0.05`

/** Creates a partition by ATTACH. Unlike CREATE TABLE … PARTITION OF, it locks only the DEFAULT partition. */
const createPartition = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { table, column }: Partitioned,
  range: Range
) {
  const name = `${table}_${new Date(range.from).toISOString().slice(0, 10).replaceAll("-", "")}`
  const [from, to] = [leastIdAt(RunId, range.from), leastIdAt(RunId, range.to)]
  yield* sql.unsafe(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL EXCLUDING INDEXES) WITH (${storage})`)
  yield* sql.unsafe(`LOCK TABLE ${table}_default IN ACCESS EXCLUSIVE MODE`)
  yield* sql.unsafe(`WITH moved AS (
      DELETE FROM ${table}_default WHERE ${column} >= '${from}' AND ${column} < '${to}' RETURNING *
    ) INSERT INTO ${name} SELECT * FROM moved`)
  yield* sql.unsafe(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`)
})

const checkInterval = Duration.hours(6)
const retryDelay = Duration.minutes(5)

/**
 * Creates missing partitions with the client `now`, and then every 6 h with `later` until the scope ends. If the table is
 * locked, it retries after 5 min.
 */
export const maintainPartitions = Effect.fnUntraced(function* (
  now: SqlClient.SqlClient,
  later: SqlClient.SqlClient,
  { schema, partitionDays }: Resolved
) {
  let wait = yield* createPartitions(now, schema, partitionDays).pipe(
    Effect.as(checkInterval),
    Effect.catchIf(isLockTimeout, () => Effect.succeed(retryDelay))
  )
  const pass = createPartitions(later, schema, partitionDays).pipe(
    Effect.as(checkInterval),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.as(
            Effect.logWarning("Partitions could not be created; retrying in 5 minutes", Cause.squash(cause)),
            retryDelay
          )
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
