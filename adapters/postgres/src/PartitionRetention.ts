/**
 * Removing old runs by whole partitions.
 *
 * A partition goes when nothing in it is running and nobody keeps anything of it any more. It is cut off in a moment,
 * for which all others have to let go of the runs. What was in it is then counted off, which may take minutes but is in
 * nobody's way; until it is, the counts of lists are too high. Whoever comes next ends what was begun.
 */
import { type EnvId, leastIdAt, RunId } from "@weft/core"
import { Clock, Duration, Effect, Schedule } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { holdPartitions, listPartitions, lockPatience, type Partition } from "./Partitions.ts"
import { postgres } from "./PostgresDialect.ts"
import { isImpatience } from "./Troubles.ts"

/** What is cut off has this at the end of its name. */
const cutOff = "_gone"

/** Nodes whose clocks are this much ahead of the database's would remove what is still young. */
const aheadMax = Duration.toMillis(Duration.minutes(10))

/** Ids of runs that begin now may be of a little earlier. */
const restMs = Duration.toMillis(Duration.days(1))

/** What the others do comes first: an attempt lasts half a second at most. */
const again = { schedule: Schedule.spaced("2 seconds"), times: 3 }

/** Removes what may go of the runs; how many. `before`: of these environments the runs with lesser ids. */
export const dropPassed = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: string,
  before: ReadonlyMap<EnvId, RunId>
): Effect.fn.Return<number, SqlError.SqlError> {
  const [server] = yield* sql<{
    readonly now: number
  }>`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`
  const now = yield* Clock.currentTimeMillis
  if (server === undefined || now > server.now + aheadMax) {
    yield* Effect.logWarning("The clock of this node is ahead of the database's: it removes no partitions")
    return 0
  }
  for (const partition of yield* alone(sql, schema, passed(sql, now, before), [])) {
    const cut = alone(sql, schema, cutOffIfFree(sql, schema, partition, passedBy(before, partition)), undefined)
    yield* cut.pipe(
      Effect.retry({ ...again, while: isImpatience }),
      Effect.catchIf(isImpatience, () => Effect.void)
    )
  }
  let removed = 0
  for (const name of yield* leftovers(sql)) removed += yield* alone(sql, schema, countOff(sql, name), 0)
  return removed
})

/** In a transaction, if no other node is removing anything; else `otherwise`. */
const alone = <A>(
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

/** The partitions that may go as it seems. */
const passed = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  now: number,
  before: ReadonlyMap<EnvId, RunId>
): Effect.fn.Return<ReadonlyArray<Partition>, SqlError.SqlError> {
  const old = (yield* listPartitions(sql)).filter(({ table, to }) => table === "runs" && to <= now - restMs)
  const found: Array<Partition> = []
  for (const partition of old) {
    if (yield* mayGo(sql, partition.name, passedBy(before, partition))) found.push(partition)
  }
  return found.sort((a, b) => a.from - b.from)
})

/** The environments that keep nothing of the partition. */
const passedBy = (before: ReadonlyMap<EnvId, RunId>, { to }: Partition): ReadonlyArray<EnvId> => {
  const end = leastIdAt(RunId, to)
  return [...before].flatMap(([envId, least]) => (least >= end ? [envId] : []))
}

/** Whether nothing runs in it, and all of it is of these environments. The database steps from one to the next. */
const mayGo = (sql: SqlClient.SqlClient, name: string, free: ReadonlyArray<EnvId>) =>
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

const cutOffIfFree = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: string,
  { name }: Partition,
  free: ReadonlyArray<EnvId>
) {
  yield* holdPartitions(sql, schema)
  yield* sql.unsafe(lockPatience)
  yield* sql.unsafe("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
  // Meanwhile another node may have removed it, or something of it begun.
  if (!(yield* listPartitions(sql)).some((partition) => partition.name === name)) return
  if (!(yield* mayGo(sql, name, free))) return
  yield* sql.unsafe(`ALTER TABLE runs DETACH PARTITION ${name}`)
  yield* sql.unsafe(`ALTER TABLE ${name} RENAME TO ${name}${cutOff}`)
})

const leftovers = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly name: string }>`
      SELECT relname::text AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ ${`^runs_[0-9]{8}${cutOff}$`}`,
    (rows) => rows.map(({ name }) => name)
  )

/** Takes what is in the table from the kept counts, in the order in which the journal adds to them; how many runs. */
const countOff = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, name: string) {
  if (!(yield* leftovers(sql)).includes(name)) return 0
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
  yield* sql.unsafe(`DROP TABLE ${name}`)
  return counted?.n ?? 0
})
