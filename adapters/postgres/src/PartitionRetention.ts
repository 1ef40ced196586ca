/**
 * Removes old runs by whole partitions.
 *
 * A partition is removable when it has no running runs and no environment retains any of its runs. Detaching it takes
 * an exclusive lock on the table for a moment. Its runs are then subtracted from the stored counts, and the steps of its
 * durable runs are deleted, which may take minutes but blocks nothing. Until then the totals of lists are too high. If a
 * node stops in between, the next removal on any node completes the work.
 */
import type { EnvId } from "@weft/core"
import { leastIdAt, RunId } from "@weft/core/adapter"
import { Clock, Duration, Effect, Schedule } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { listPartitions, lockPartitions, lockTimeout, type Partition } from "./Partitions.ts"
import { postgres } from "./PostgresDialect.ts"
import { isLockTimeout } from "./PostgresErrors.ts"

/** Suffix of the name of a detached partition. */
const detachedSuffix = "_gone"

/** Maximum lead of the node's clock over the database's, in milliseconds. With more, it would remove young runs. */
const clockSkewMaxMs = Duration.toMillis(Duration.minutes(10))

/** Minimum age of a removable partition, in milliseconds. Ids of new runs may be slightly older than now. */
const marginMs = Duration.toMillis(Duration.days(1))

/** Retries of a detach. Each attempt waits at most 500 ms for the lock, so that it does not block other statements. */
const retryPolicy = { schedule: Schedule.spaced("2 seconds"), times: 3 }

/** Removes all removable partitions of runs. `before` maps environments to their first retained id. Returns the count. */
export const dropExpiredPartitions = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: string,
  before: ReadonlyMap<EnvId, RunId>
): Effect.fn.Return<number, SqlError.SqlError> {
  const [server] = yield* sql<{
    readonly now: number
  }>`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`
  const now = yield* Clock.currentTimeMillis
  if (server === undefined || now > server.now + clockSkewMaxMs) {
    yield* Effect.logWarning(
      `This node's clock is more than ${clockSkewMaxMs / 60_000} minutes ahead of the database's, so it removes no partitions`
    )
    return 0
  }
  for (const partition of yield* withRemovalLock(sql, schema, listExpired(sql, now, before), [])) {
    const cut = withRemovalLock(
      sql,
      schema,
      detachIfRemovable(sql, schema, partition, envsPast(before, partition)),
      undefined
    )
    yield* cut.pipe(
      Effect.retry({ ...retryPolicy, while: isLockTimeout }),
      Effect.catchIf(isLockTimeout, () => Effect.void)
    )
  }
  let removed = 0
  for (const name of yield* listDetached(sql))
    removed += yield* withRemovalLock(sql, schema, removeDetached(sql, name), 0)
  return removed
})

/** Runs in a transaction, or returns `otherwise` if another node is removing partitions. */
const withRemovalLock = <A>(
  sql: SqlClient.SqlClient,
  schema: string,
  effect: Effect.Effect<A, SqlError.SqlError>,
  otherwise: A
): Effect.Effect<A, SqlError.SqlError> =>
  sql.withTransaction(
    Effect.flatMap(
      sql<{ readonly held: boolean }>`
        SELECT pg_try_advisory_xact_lock(hashtextextended(${`weft removal from ${schema}`}, 0)) AS held`,
      ([row]) => (row?.held === true ? effect : Effect.succeed(otherwise))
    )
  )

/** Returns partitions that seem removable, without a lock. */
const listExpired = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  now: number,
  before: ReadonlyMap<EnvId, RunId>
): Effect.fn.Return<ReadonlyArray<Partition>, SqlError.SqlError> {
  const old = (yield* listPartitions(sql)).filter(({ table, to }) => table === "runs" && to <= now - marginMs)
  const found: Array<Partition> = []
  for (const partition of old) {
    if (yield* isRemovable(sql, partition.name, envsPast(before, partition))) found.push(partition)
  }
  return found.sort((a, b) => a.from - b.from)
})

/** Returns the environments that retain no run of the partition. */
const envsPast = (before: ReadonlyMap<EnvId, RunId>, { to }: Partition): ReadonlyArray<EnvId> => {
  const end = leastIdAt(RunId, to)
  return [...before].flatMap(([envId, least]) => (least >= end ? [envId] : []))
}

/** True if the partition has no running runs, and only runs of these environments. Skips between environments. */
const isRemovable = (sql: SqlClient.SqlClient, name: string, free: ReadonlyArray<EnvId>) =>
  Effect.map(
    sql`
      WITH RECURSIVE env (id) AS (
        SELECT min(env_id) FROM ${sql(name)}
        UNION ALL
        SELECT (SELECT min(env_id) FROM ${sql(name)} WHERE env_id > env.id) FROM env WHERE env.id IS NOT NULL
      )
      SELECT 1 WHERE EXISTS (SELECT 1 FROM ${sql(name)} WHERE status = 'running')
        OR EXISTS (SELECT 1 FROM env WHERE id IS NOT NULL AND id NOT IN (${postgres.texts(sql, free)}))`,
    (rows) => rows.length === 0
  )

const detachIfRemovable = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: string,
  { name }: Partition,
  free: ReadonlyArray<EnvId>
) {
  yield* lockPartitions(sql, schema)
  yield* sql.unsafe(lockTimeout)
  yield* sql.unsafe("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
  // Checked again under the lock: another node may have removed it, or one of its runs may be running now.
  if (!(yield* listPartitions(sql)).some((partition) => partition.name === name)) return
  if (!(yield* isRemovable(sql, name, free))) return
  yield* sql.unsafe(`ALTER TABLE runs DETACH PARTITION ${name}`)
  yield* sql.unsafe(`ALTER TABLE ${name} RENAME TO ${name}${detachedSuffix}`)
})

const listDetached = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly name: string }>`
      SELECT relname::text AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ ${`^runs_[0-9]{8}${detachedSuffix}$`}`,
    (rows) => rows.map(({ name }) => name)
  )

/**
 * Subtracts a detached partition's runs from the stored counts, in the journal's lock order, and drops it with their steps.
 * Returns their number.
 */
const removeDetached = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, name: string) {
  if (!(yield* listDetached(sql)).includes(name)) return 0
  const [counted] = yield* sql<{ readonly n: number }>`
    WITH sums AS MATERIALIZED (
      SELECT env_id, project_id, project_name, run_type, status, count(*) AS n,
        sum(coalesce(octet_length(result), 0) + coalesce(octet_length(logs), 0))::bigint AS bytes
      FROM ${sql(name)} GROUP BY 1, 2, 3, 4, 5
    ), counted AS (
      INSERT INTO run_counts (env_id, project_id, project_name, run_type, status, n, bytes, month, month_runs)
      SELECT env_id, project_id, project_name, run_type, status, -n, -bytes, 0, 0 FROM sums
      ORDER BY env_id, project_id, status, run_type, project_name
      ON CONFLICT (env_id, project_id, project_name, run_type, status) DO UPDATE SET
        n = run_counts.n + excluded.n, bytes = run_counts.bytes + excluded.bytes
    )
    SELECT coalesce(sum(n), 0)::bigint AS n FROM sums`
  yield* deleteHistories(sql, name)
  yield* sql.unsafe(`DROP TABLE ${name}`)
  return counted?.n ?? 0
})

/** Deletes the steps, waits and tokens of the runs of a detached partition. */
const deleteHistories = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, name: string) {
  // A partition that an earlier release detached has no durable runs, and lacks the column.
  const [column] = yield* sql`
    SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(${name}) AND attname = 'activations' AND NOT attisdropped`
  if (column === undefined) return
  for (const table of ["workflow_steps", "workflow_waits", "workflow_tokens"]) {
    yield* sql.unsafe(`DELETE FROM ${table} USING ${name} AS gone
      WHERE gone.activations IS NOT NULL AND ${table}.env_id = gone.env_id AND ${table}.run_id = gone.run_id`)
  }
})
