/**
 * Fills a database with the data of weeks of use: ended runs, their events, and pending deliveries.
 *
 * SQL generates the rows, because millions of rows would take hours through the stores. The distribution over
 * environments is skewed: the first has 30 times as many runs as the average.
 */
import { timeOfUuidV7 } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

export interface Size {
  readonly runs: number
  readonly envs: number
  readonly deliveries: number
  /** Weeks before `now` over which the runs are spread. */
  readonly weeks: number
  /** Milliseconds since 1970. */
  readonly now: number
}

const week = 7 * 86_400_000

/** Number of active runs, and how many of them belong to a dead node. */
const runningCount = 500
const orphanCount = 50

export const makeEnvId = (n: number): string => uuid("0002", n)
export const makeNodeId = (n: number): string => uuid("000a", n)
export const makeProjectId = (n: number): string => uuid("0004", n)

const uuid = (kind: string, n: number): string => `01976a2b-${kind}-7000-8000-${n.toString(16).padStart(12, "0")}`

const sqlUuid = (kind: string, n: string): string =>
  `'01976a2b-${kind}-7000-8000-' || lpad(to_hex((${n})::bigint), 12, '0')`

/** Returns SQL of a UUIDv7 of the time `ms`; `salt` makes it unique. */
const idAt = (ms: string, salt: string): string => {
  const time = `lpad(to_hex((${ms})::bigint), 12, '0')`
  const hash = `md5((${salt})::text)`
  return `substr(${time}, 1, 8) || '-' || substr(${time}, 9, 4) || '-7' || substr(${hash}, 1, 3) || '-8'
    || substr(${hash}, 4, 3) || '-' || substr(${hash}, 7, 12)`
}

/** Returns SQL of a number from 0 to `envs` - 1, skewed to small ones. */
const skewed = (i: string, envs: number): string =>
  `floor(${envs} * power(((hashint8(${i})::bigint & 2147483647) % 100000) / 100000.0, 2))::bigint`

export const retryTerms = { attempts: 3, delay_ms: 1000, backoff: 2, max_delay_ms: 3_600_000, jitter: true }

const terms = (group: string | null): string =>
  JSON.stringify({
    retry: retryTerms,
    timeout_ms: 300_000,
    caused_by: null,
    group: group === null ? null : { key: group, limit: 2 }
  })

type Fill = Effect.Effect<void, SqlError.SqlError>

export const fill = (sql: SqlClient.SqlClient, size: Size, progress: (text: string) => void): Fill =>
  fillWith(sql, size, progress, [
    ...pendingDeliveries(size, size.deliveries, `(i % ${size.envs}) + 1`),
    ...running(size),
    ...tenants(size),
    ...others(size)
  ])

/** Fills only ended runs and their events: nothing is pending or active, and there are no schedules. */
export const fillHistory = (sql: SqlClient.SqlClient, size: Size, progress: (text: string) => void): Fill =>
  fillWith(sql, size, progress, tenants(size))

const fillWith = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  size: Size,
  progress: (text: string) => void,
  statements: ReadonlyArray<string>
): Effect.fn.Return<void, SqlError.SqlError> {
  for (const partition of size.runs === 0 ? [] : yield* readPartitions(sql, size)) {
    yield* sql.withTransaction(fillPartition(sql, size, partition))
    progress(`${partition.name}: up to number ${Math.min(partition.last, size.runs)} of ${size.runs}`)
  }
  for (const statement of [...statements, ...counts]) yield* sql.unsafe(statement)
  progress("VACUUM ANALYZE")
  yield* sql.unsafe("VACUUM ANALYZE")
  // Without it, the disk would still be busy during measurements.
  progress("CHECKPOINT")
  yield* sql.unsafe("CHECKPOINT")
})

interface Partition {
  readonly table: string
  readonly name: string
  /** Bounds of its ids. */
  readonly from: string
  readonly to: string
  /** Storage parameters, such as those of autovacuum. */
  readonly storage: string
  /** Numbers of its first and last run. */
  readonly first: number
  readonly last: number
}

const readPartitions = (sql: SqlClient.SqlClient, size: Size) =>
  Effect.map(
    sql<Omit<Partition, "first" | "last">>`
      SELECT i.inhparent::regclass::text AS table, part.relname::text AS name,
        substring(pg_get_expr(relpartbound, oid) FROM 'FROM \\(''(.*)''\\) TO') AS "from",
        substring(pg_get_expr(relpartbound, oid) FROM 'TO \\(''(.*)''\\)') AS "to",
        array_to_string(reloptions, ', ') AS storage
      FROM pg_inherits i JOIN pg_class part ON part.oid = i.inhrelid
      WHERE i.inhparent IN ('runs'::regclass, 'events'::regclass)
        AND pg_get_expr(relpartbound, oid) <> 'DEFAULT'
      ORDER BY name`,
    (rows) =>
      rows
        .map((row) => ({ ...row, first: Math.max(1, numberAt(size, row.from)), last: numberAt(size, row.to) - 1 }))
        .filter(({ first, last }) => last >= 1 && first <= size.runs)
  )

/** Returns the number of the first run at or after the time of an id. */
const numberAt = (size: Size, id: string): number => Math.ceil((timeOfUuidV7(id) - startOf(size)) / intervalOf(size))

/** Fills a partition before its indexes are built, which is four times as fast. */
const fillPartition = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, size: Size, partition: Partition) {
  const { table, name, from, to, storage } = partition
  yield* sql.unsafe(`ALTER TABLE ${table} DETACH PARTITION ${name}`)
  yield* sql.unsafe(`DROP TABLE ${name}`)
  yield* sql.unsafe(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL EXCLUDING INDEXES) WITH (${storage})`)
  yield* sql.unsafe(table === "runs" ? endedRuns(size, partition) : eventsOfRuns(size, partition))
  yield* sql.unsafe(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`)
})

const startOf = ({ weeks, now }: Size): number => now - weeks * week
const intervalOf = ({ runs, weeks }: Size): number => (weeks * week) / runs

const numbered = (size: Size, { first, last }: Partition): string => `
  (SELECT i, ${startOf(size)} + ceil(i * ${intervalOf(size)})::bigint AS t, ${skewed("i", size.envs)} AS env
    FROM generate_series(${first}::bigint, ${Math.min(last, size.runs)}::bigint) AS series (i)) AS r`

const endedRuns = (size: Size, partition: Partition): string => `
  INSERT INTO ${partition.name} (env_id, run_id, stream_id, project_id, project_name, build_id, ns, var, run_type,
    status, start_time, stop_time, origin_run_id, event_id, attempt, node_id, cpu_ms, wall_ms, heap_bytes, result, logs)
  SELECT ${sqlUuid("0002", "env + 1")}, ${idAt("t", "i")}, ${idAt("t", "i")}, ${sqlUuid("0004", "env * 4 + i % 4")},
    'project ' || (i % 4), ${sqlUuid("0005", "env")}, 'main', 'fn' || (i % 7),
    CASE i % 5 WHEN 0 THEN 'call' ELSE 'event' END,
    CASE i % 200 WHEN 7 THEN 'cancelled' WHEN 3 THEN 'failed' WHEN 11 THEN 'failed' ELSE 'succeeded' END,
    t, t + 40, NULL, CASE i % 5 WHEN 0 THEN NULL ELSE ${idAt("t", "i")} END, 1, '${makeNodeId(1)}', 1.25, 39.5, 4000000,
    '{"ok":true,"order":"0123456789abcdef0123456789abcdef","n":' || i || '}',
    CASE i % 5 WHEN 1 THEN '[{"seq":0,"time":' || t || ',"level":"info","message":"${"hello ".repeat(20)}","data":null}]' END
  FROM ${numbered(size, partition)}`

/** Returns SQL of events for 4 of 10 runs. */
const eventsOfRuns = (size: Size, partition: Partition): string => `
  INSERT INTO ${partition.name} (env_id, event_id, stream_id, event_type, event_time, created_at, event_data)
  SELECT ${sqlUuid("0002", "env + 1")}, ${idAt("t", "i")}, ${idAt("t", "i")}, 'order:' || (i % 12), t, t,
    '{"n":' || i || ',"payload":"${"hello ".repeat(20)}"}'
  FROM ${numbered(size, partition)}
  WHERE i % 2 = 1 AND i % 5 <> 0`

/** Returns SQL of `count` due deliveries; `env` is SQL of the environment of number `i`. One in 50 is in a group. */
export const pendingDeliveries = ({ now }: Pick<Size, "now">, count: number, env: string): ReadonlyArray<string> => {
  const due = `${now - 3_600_000} + (i * ${3_500_000 / count})::bigint`
  const id = idAt("t", "i * 7 + 1")
  const rows = `(SELECT i, ${due} AS t, ${env} AS env FROM generate_series(1::bigint, ${count}::bigint) AS series (i)) AS d`
  return [
    `INSERT INTO events (env_id, event_id, stream_id, event_type, event_time, created_at, event_data)
      SELECT ${sqlUuid("0002", "env")}, ${id}, ${id}, 'order:' || (i % 12), t, t, '{"order":"' || md5(i::text) || '"}'
      FROM ${rows} ON CONFLICT DO NOTHING`,
    `INSERT INTO deliveries (env_id, due_at, delivery_id, event_id, stream_id, project_id, project_name, build_id, ns,
        var, run_type, attempt, first_run_id, terms, group_key)
      SELECT ${sqlUuid("0002", "env")}, t, ${id}, ${id}, ${id}, ${sqlUuid("0004", "env * 4")}, 'project 0',
        ${sqlUuid("0005", "env")}, 'main', 'fn1', 'event', 1, NULL,
        CASE i % 50 WHEN 49 THEN '${terms("main/fn1")}' ELSE '${terms(null)}' END,
        CASE i % 50 WHEN 49 THEN 'main/fn1' END
      FROM ${rows}`
  ]
}

const running = ({ now, envs }: Size): ReadonlyArray<string> => [
  `INSERT INTO leases (node_id, until) VALUES ('${makeNodeId(1)}', ${now + week})`,
  `INSERT INTO runs (env_id, run_id, stream_id, project_id, project_name, build_id, ns, var, run_type, status,
      start_time, event_id, attempt, node_id, delivery_id, terms, group_key)
    SELECT ${sqlUuid("0002", `i % ${envs} + 1`)}, ${idAt("t", "-i")}, ${idAt("t", "-i")}, ${sqlUuid("0004", "i * 4")},
      'project 0', ${sqlUuid("0005", "i")}, 'main', 'fn1', 'event', 'running', t, ${idAt("t", "i")}, 1,
      CASE WHEN i <= ${orphanCount} THEN '${makeNodeId(404)}' ELSE '${makeNodeId(1)}' END, ${idAt("t", "i")}, '${terms(null)}', NULL
    FROM (SELECT i, ${now - 60_000} + i AS t FROM generate_series(1::bigint, ${runningCount}::bigint) AS series (i)) AS r`
]

const tenants = ({ now, envs }: Size): ReadonlyArray<string> => [
  `INSERT INTO orgs (org_id, slug, name, plan, members, created_at, updated_at)
    SELECT ${sqlUuid("0001", "i")}, 'org-' || i, 'Organization', 'Self-Host', 1, ${now}, ${now}
    FROM generate_series(1::bigint, ${envs}::bigint) AS series (i)`,
  `INSERT INTO envs (env_id, org_id, name, active, created_at)
    SELECT ${sqlUuid("0002", "i")}, ${sqlUuid("0001", "i")}, 'main', 1, ${now} FROM generate_series(1::bigint, ${envs}::bigint) AS series (i)`
]

const others = ({ now, envs }: Size): ReadonlyArray<string> => [
  `INSERT INTO schedules (schedule_id, env_id, project_id, kind, ns, var, cron, timezone, next_at, due_at, created_at,
      args)
    SELECT ${idAt(String(now), "i")}, ${sqlUuid("0002", `i % ${envs} + 1`)}, ${sqlUuid("0004", "i % 4000")},
      CASE i % 2 WHEN 0 THEN 'dynamic' ELSE 'static' END, 'main', 'fn1', '0 * * * *', 'UTC',
      ${now - 10_000} + i * 1000, ${now - 10_000} + i * 1000, ${now}, NULL
    FROM generate_series(1::bigint, 20000::bigint) AS series (i)`,
  `INSERT INTO once (env_id, key, expires_at, event_id, digest)
    SELECT ${sqlUuid("0002", `i % ${envs} + 1`)}, 'key ' || i, ${now - 1000} + i, ${idAt(String(now), "i")}, ''
    FROM generate_series(1::bigint, 100000::bigint) AS series (i)`
]

const counts: ReadonlyArray<string> = [
  `INSERT INTO run_counts (env_id, project_id, project_name, run_type, status, n, bytes, month, month_runs)
    SELECT env_id, project_id, project_name, run_type, status, count(*),
      sum(coalesce(octet_length(result), 0) + coalesce(octet_length(logs), 0)), 0, 0
    FROM runs WHERE status <> 'running' GROUP BY 1, 2, 3, 4, 5`,
  `INSERT INTO event_counts (env_id, event_type, n) SELECT env_id, event_type, count(*) FROM events GROUP BY 1, 2`
]
