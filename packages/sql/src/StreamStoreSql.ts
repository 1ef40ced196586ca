/**
 * `StreamStore` on SQL.
 *
 * Ids tell when they were made, so that what happened lately is a range of primary keys: no index is kept for it. Results
 * are read last, and only those that are told.
 */
import {
  type EnvId,
  EventId,
  type Fact,
  type JsonText,
  latestFacts,
  leastIdAt,
  RunId,
  retell,
  type SinceQuery,
  type StoredEvent,
  type StoredRun,
  type StreamId,
  StreamStore,
  scannedMax,
  type Timestamp
} from "@weft/core"
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { Database, orUnavailable } from "./Database.ts"
import type { Dialect } from "./Dialect.ts"

/** Ids are made at about the time that their records tell. */
const idMarginMs = 60_000

/** No run takes longer. */
const longestRunMs = 3_600_000

/** Results that are read at once. */
const batch = 100

/** Events or runs that are looked at at once: on SQLite nothing else goes on meanwhile. */
const pageMax = 1000

/** No id is later. */
const lastId: string = "ffffffff-ffff-ffff-ffff-ffffffffffff"

export const layer: Layer.Layer<StreamStore, never, Database> = Layer.effect(
  StreamStore,
  Effect.gen(function* () {
    const { dialect, reader } = yield* Database
    const results = resultsOf(reader, dialect)

    return StreamStore.of({
      // The runs of an event are in its stream, so that those are looked for without an event only.
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
          const facts = latestFacts(
            envId,
            events.map((event) => ({ ...event, begins: event.begins === 1 })),
            runs,
            query
          )
          return retell(facts, yield* results(envId, facts))
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

// SQLite would look for the earlier event among all of the environment, were its id compared as it is. EXISTS would be
// answered by a look at all runs of the environment.
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

/** Runs that began or ended since. One that began before may have gone on for long. */
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
    // Enough has begun since then: older runs matter only where they have ended later.
    if (since === from && runs.length >= limit) since = nthLatest(runs, limit) ?? since
    yield* Effect.yieldNow
  }
  return runs
})

const nthLatest = (runs: ReadonlyArray<StoredRun>, n: number): Timestamp | undefined =>
  runs.map(({ start_time }) => start_time).sort((a, b) => b - a)[n - 1]

const isLate = (sql: SqlClient.SqlClient, from: Timestamp) => sql`(start_time >= ${from} OR stop_time >= ${from})`

/** Found by their events, which are few, and not among all that ran lately. */
const runsOfStream = (sql: SqlClient.SqlClient, envId: EnvId, from: Timestamp, stream: StreamId, least: RunId) => {
  const columns = sql.literal(runColumns)
  return sql<StoredRun>`
    SELECT ${columns} FROM (
      SELECT event_id AS of_event FROM events WHERE env_id = ${envId} AND stream_id = ${stream}
    ) AS told JOIN runs ON env_id = ${envId} AND event_id = of_event
    WHERE run_id >= ${least} AND ${isLate(sql, from)}
    UNION ALL
    SELECT ${columns} FROM runs
    WHERE env_id = ${envId} AND stream_id = ${stream} AND event_id IS NULL AND run_id >= ${least}
      AND ${isLate(sql, from)}
    LIMIT ${scannedMax}`
}

const runColumns = `run_id, stream_id, run_type, project_id, project_name, event_id, status, start_time, stop_time,
  coalesce(octet_length(result), 0) AS result_bytes`

const resultsOf = (sql: SqlClient.SqlClient, dialect: Dialect) =>
  Effect.fnUntraced(function* (envId: EnvId, facts: ReadonlyArray<Fact>) {
    const ids = facts.flatMap(({ result }) => (result === null ? [] : [result.run_id]))
    const found = new Map<RunId, JsonText>()
    for (let at = 0; at < ids.length; at += batch) {
      const rows = yield* sql<{ run_id: RunId; result: JsonText | null }>`
        SELECT run_id, result FROM runs
        WHERE env_id = ${envId} AND run_id IN (${dialect.texts(sql, ids.slice(at, at + batch))})`
      for (const { run_id, result } of rows) if (result !== null) found.set(run_id, result)
    }
    return found
  })
