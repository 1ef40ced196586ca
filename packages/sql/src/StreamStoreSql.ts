/**
 * `StreamStore` on SQL.
 *
 * Ids contain their creation time, so recent activity is a range of primary keys and needs no index. Results are read
 * last, and only those that are returned.
 */
import type { EnvId } from "@weft/core"
import {
  EventId,
  type HistoryEntry,
  type JsonText,
  latestEntries,
  leastIdAt,
  RunId,
  type SinceQuery,
  type StoredEvent,
  type StoredRun,
  type StreamId,
  StreamStore,
  scannedMax,
  type Timestamp,
  toActivity
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { Database, orUnavailable } from "./Database.ts"
import type { Dialect } from "./Dialect.ts"

/** Maximum difference between the time in an id and the time of its record, in milliseconds. */
const idMarginMs = 60_000

/** Maximum duration of a run, in milliseconds. */
const longestRunMs = 3_600_000

/** Results per query. */
const batch = 100

/** Maximum events or runs per query. A SQLite query blocks its thread. */
const pageMax = 1000

/** The greatest id. */
const lastId: string = "ffffffff-ffff-ffff-ffff-ffffffffffff"

export const layer: Layer.Layer<StreamStore, never, Database> = Layer.effect(
  StreamStore,
  Effect.gen(function* () {
    const { dialect, reader } = yield* Database
    const results = makeResultReader(reader, dialect)

    return StreamStore.of({
      // The runs of an event are in its stream, so only runs without an event are searched.
      exists: (envId, id) =>
        reader<{ n: number }>`
          SELECT 1 AS n WHERE
            EXISTS (SELECT 1 FROM events WHERE env_id = ${envId} AND stream_id = ${id}) OR
            EXISTS (SELECT 1 FROM runs WHERE env_id = ${envId} AND stream_id = ${id} AND event_id IS NULL)
        `.pipe(
          Effect.map((rows) => rows.length > 0),
          orUnavailable("exists")
        ),

      since: (envId, query) =>
        Effect.gen(function* () {
          const events = query.stream === null ? yield* eventsSince(reader, envId, query) : []
          const runs = yield* runsSince(reader, envId, query)
          const entries = latestEntries(
            envId,
            events.map((event) => ({ ...event, begins: event.begins === 1 })),
            runs,
            query
          )
          return toActivity(entries, yield* results(envId, entries))
        }).pipe(orUnavailable("since"))
    })
  })
)

type EventRow = Omit<StoredEvent, "begins"> & { readonly begins: number }

const eventsSince = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, envId: EnvId, { from, limit }: SinceQuery) {
  const events: Array<EventRow> = []
  for (let before = lastId; events.length < limit; yield* Effect.yieldNow) {
    const wanted = Math.min(pageMax, limit - events.length)
    const page = yield* eventsBefore(sql, envId, from, before, wanted)
    events.push(...page)
    if (page.length < wanted) break
    before = page.reduce((least, { event_id }) => (event_id < least ? event_id : least), before)
  }
  return events
})

// With a plain comparison of the id, SQLite would search the earlier event among all events of the environment. With
// EXISTS, it would scan all runs of the environment.
const eventsBefore = (sql: SqlClient.SqlClient, envId: EnvId, from: Timestamp, before: string, limit: number) =>
  sql<EventRow>`
    SELECT event_id, stream_id, event_type, created_at,
      CASE WHEN EXISTS (
        SELECT 1 FROM events earlier
        WHERE earlier.env_id = ${envId} AND earlier.stream_id = latest.stream_id
          AND earlier.event_id || '' < latest.event_id
      ) OR (
        SELECT 1 FROM runs WHERE env_id = ${envId} AND stream_id = latest.stream_id AND event_id IS NULL LIMIT 1
      ) IS NOT NULL THEN 0 ELSE 1 END AS begins
    FROM (
      SELECT event_id, stream_id, event_type, created_at FROM events
      WHERE env_id = ${envId} AND event_id >= ${leastIdAt(EventId, from - idMarginMs)} AND event_id < ${before}
        AND created_at >= ${from}
      ORDER BY event_id DESC LIMIT ${limit}
    ) AS latest`

/** Selects runs that started or ended since `query.from`. A run that started earlier may have taken up to an hour. */
const runsSince = (sql: SqlClient.SqlClient, envId: EnvId, query: SinceQuery) => {
  const least = leastIdAt(RunId, query.from - idMarginMs - longestRunMs)
  const { stream } = query
  return stream === null ? runsOfEnv(sql, envId, query, least) : runsOfStream(sql, envId, query.from, stream, least)
}

const runsOfEnv = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  envId: EnvId,
  { from, limit }: SinceQuery,
  least: RunId
) {
  const runs: Array<StoredRun> = []
  let since = from
  let before = lastId
  for (let scanned = 0; scanned < scannedMax; scanned += pageMax) {
    const [last] = yield* sql<{ readonly run_id: RunId }>`
      SELECT run_id FROM runs WHERE env_id = ${envId} AND run_id >= ${least} AND run_id < ${before}
      ORDER BY run_id DESC LIMIT 1 OFFSET ${pageMax - 1}`
    runs.push(
      ...(yield* sql<StoredRun>`
        SELECT ${sql.literal(runColumns)} FROM runs
        WHERE env_id = ${envId} AND run_id >= ${last?.run_id ?? least} AND run_id < ${before} AND ${isLate(sql, since)}`)
    )
    if (last === undefined) break
    before = last.run_id
    // Enough runs started since then. Older runs matter only if they ended later.
    if (since === from && runs.length >= limit) since = nthLatest(runs, limit) ?? since
    yield* Effect.yieldNow
  }
  return runs
})

const nthLatest = (runs: ReadonlyArray<StoredRun>, n: number): Timestamp | undefined =>
  runs.map(({ start_time }) => start_time).sort((a, b) => b - a)[n - 1]

const isLate = (sql: SqlClient.SqlClient, from: Timestamp) => sql`(start_time >= ${from} OR stop_time >= ${from})`

/** Selects the runs of a stream by its few events, not among all recent runs. */
const runsOfStream = (sql: SqlClient.SqlClient, envId: EnvId, from: Timestamp, stream: StreamId, least: RunId) => {
  const columns = sql.literal(runColumns)
  return sql<StoredRun>`
    SELECT ${columns} FROM (
      SELECT event_id AS of_event FROM events WHERE env_id = ${envId} AND stream_id = ${stream}
    ) AS stream_events JOIN runs ON env_id = ${envId} AND event_id = of_event
    WHERE run_id >= ${least} AND ${isLate(sql, from)}
    UNION ALL
    SELECT ${columns} FROM runs
    WHERE env_id = ${envId} AND stream_id = ${stream} AND event_id IS NULL AND run_id >= ${least}
      AND ${isLate(sql, from)}
    LIMIT ${scannedMax}`
}

const runColumns = `run_id, stream_id, run_type, project_id, project_name, event_id, status, start_time, stop_time,
  coalesce(octet_length(result), 0) AS result_bytes`

const makeResultReader = (sql: SqlClient.SqlClient, dialect: Dialect) =>
  Effect.fnUntraced(function* (envId: EnvId, entries: ReadonlyArray<HistoryEntry>) {
    const ids = entries.flatMap(({ result }) => (result === null ? [] : [result.run_id]))
    const found = new Map<RunId, JsonText>()
    for (let at = 0; at < ids.length; at += batch) {
      const rows = yield* sql<{ run_id: RunId; result: JsonText | null }>`
        SELECT run_id, result FROM runs
        WHERE env_id = ${envId} AND run_id ${dialect.among(sql, ids.slice(at, at + batch))}`
      for (const { run_id, result } of rows) if (result !== null) found.set(run_id, result)
    }
    return found
  })
