/**
 * Claims of due deliveries, fair between environments.
 *
 * A claim serves environments round-robin, from the end of the last claim, with the same share for each. The query
 * skips from one environment to the next in the primary key, so its cost does not depend on the backlog. Nodes that
 * claim at the same time skip each other's rows.
 */
import type { EnvId } from "@weft/core"
import {
  type Claim,
  type ClaimRequest,
  type ClaimResult,
  Delivery,
  type Event,
  type EventId,
  parkedAt,
  type Run,
  type RunId,
  smallDataBytes,
  startRun,
  type Timestamp,
  takeWithinBudget
} from "@weft/core/adapter"
import { Effect, Schema, Struct } from "effect"
import type { SqlError } from "effect/sql"
import type { Batched } from "./Batch.ts"
import type { Database } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import { limitBatches, loadBatches } from "./JournalBatches.ts"
import { continueClaim, lockSuspended } from "./JournalContinuation.ts"
import { parkFullGroups } from "./JournalGroups.ts"
import { holdPaused } from "./JournalPauses.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import type { makePostponeThrottled } from "./JournalThrottle.ts"
import { pendingRow, type termFields } from "./rows/DeliveryRows.ts"
import { runBatchRow, startRow, toStartRow } from "./rows/RunRows.ts"
import { continueRow } from "./rows/WorkflowRows.ts"

/** Maximum deliveries in which a claim searches the next one of an environment that is not excluded. */
const comingMax = 1_000

/** State that a store keeps between claims. */
export interface ClaimCursor {
  /** The environment that the last claim served last. */
  last: string
  readonly parseTerms: (text: string) => Terms
  readonly postponeThrottled: ReturnType<typeof makePostponeThrottled>
}

/** Claims deliveries and stores the rows of `lease` in the caller's transaction, after freed groups were unparked. */
export const claimDue = Effect.fnUntraced(function* (
  database: Database["Service"],
  statements: JournalStatements,
  cursor: ClaimCursor,
  request: ClaimRequest,
  lease: Rows
): Effect.fn.Return<Omit<ClaimResult, "unparked">, SqlError.SqlError> {
  const limit = request.runIds.length
  const due = yield* dueEnvs(database, cursor.last, request)
  const envs = due.slice(0, limit)
  const hasMoreEnvs = due.length > limit
  if (envs.length === 0) {
    yield* statements.renewLeases.run(lease)
    return { claims: [], parked: 0, next_due_at: yield* nextDue(database, request, envs) }
  }

  const share = Math.min(request.perEnv, Math.max(1, Math.ceil(limit / envs.length)))
  // One row beyond the share shows that an environment has more. Not needed if other environments have to wait anyway.
  const rowsPerEnv = hasMoreEnvs ? share : share + 1
  const byEnv = Map.groupBy(yield* selectDue(database, envs, request.now, rowsPerEnv), (row) => row.env_id)
  const selected = envs.flatMap((env) => (byEnv.get(env) ?? []).slice(0, share))
  const removed = selected.filter((row) => row.removed === 1)
  const present = removed.length === 0 ? selected : selected.filter((row) => row.removed !== 1)
  const { open, held } = yield* holdPaused(database, present, request)
  const loaded = yield* loadLargeData(database, open)
  const { blocked, parked } = yield* parkFullGroups(database, loaded, request.now)
  const chosen = blocked.size === 0 ? loaded : loaded.filter((row) => !blocked.has(row.delivery_id))
  const suspended = yield* lockSuspended(database, chosen)
  const ready = chosen.filter(({ continues }) => continues === null || suspended.runs.has(continues))
  const first = yield* readTerms(database, cursor, ready.slice(0, limit))
  const { taken, terms, postponed } = yield* startThrottled(cursor, first, request.now)
  const known = { suspended: suspended.runs, events: yield* loadBatches(database, taken, terms) }
  const claims = request.runIds.flatMap((runId, index) => {
    const row = taken[index]
    const rowTerms = terms[index]
    return row === undefined || rowTerms === undefined ? [] : [toClaim(row, rowTerms, runId, request, known)]
  })
  yield* statements.runIndependent([
    { statement: statements.renewLeases, rows: lease },
    ...storeClaims(statements, claims, taken),
    { statement: statements.deleteDeliveries, rows: pendingRow.encode([...taken, ...suspended.stale, ...removed]) }
  ])
  if (known.events.size > 0) yield* statements.setBatches.run(runBatchRow.encode(claims.flatMap(startedBatch)))
  cursor.last = claims.at(-1)?.delivery.env_id ?? cursor.last

  // Parked and held deliveries may have been all those beyond the shares.
  const beyondShare = parked + held === 0 && [...byEnv.values()].some((rows) => rows.length > share)
  const isLimited = first.rows.length < ready.length || suspended.isBusy || removed.length > 0
  if (hasMoreEnvs || loaded.length < open.length || isLimited || beyondShare) {
    return { claims, parked: parked + held + postponed, next_due_at: request.now }
  }
  return { claims, parked: parked + held + postponed, next_due_at: yield* nextDue(database, request, envs) }
})

/** Returns the rows that fit into the claim, with their terms. */
const readTerms = (database: Database["Service"], { parseTerms }: ClaimCursor, rows: ReadonlyArray<DueRow>) =>
  limitBatches(
    database,
    rows,
    rows.map((row) => parseTerms(row.terms))
  )

/** Returns the run of a claim if it starts with the events of a batch. */
const startedBatch = ({ delivery, run }: Claim): ReadonlyArray<Run> =>
  run.event_ids === null || delivery.continues !== null ? [] : [run]

/** Returns the rows that their throttles allow to start, with their terms, and the number of the others, which it postpones. */
const startThrottled = Effect.fnUntraced(function* (
  { postponeThrottled }: ClaimCursor,
  { rows: due, terms }: { readonly rows: ReadonlyArray<DueRow>; readonly terms: ReadonlyArray<Terms> },
  now: Timestamp
): Effect.fn.Return<ThrottledRows, SqlError.SqlError> {
  if (terms.every((each) => each.throttle === undefined)) return { taken: due, terms, postponed: 0 }
  const rows = due.map((row, index) => {
    const { throttle } = terms[index] ?? {}
    return throttle === undefined ? row : { ...row, throttle }
  })
  const later = yield* postponeThrottled(rows, now)
  const isTaken = due.map(({ delivery_id }) => !later.has(delivery_id))
  return {
    taken: due.filter((_, index) => isTaken[index]),
    terms: terms.filter((_, index) => isTaken[index]),
    postponed: later.size
  }
})

interface ThrottledRows {
  readonly taken: ReadonlyArray<DueRow>
  readonly terms: ReadonlyArray<Terms>
  readonly postponed: number
}

/** Returns the statements that store the runs of the claims as running, with the deliveries that they hold. */
const storeClaims = (
  statements: JournalStatements,
  claims: ReadonlyArray<Claim>,
  taken: ReadonlyArray<DueRow>
): ReadonlyArray<{ readonly statement: Batched<never>; readonly rows: Rows }> => {
  const started: Rows = []
  const continued: Rows = []
  for (const [index, { delivery, run }] of claims.entries()) {
    // Terms are copied unparsed: a newer node may have stored fields that this one does not know.
    const record = toStartRow(run, delivery, taken[index]?.terms)
    if (delivery.continues === null) startRow.append(started, record)
    else continueRow.append(continued, record)
  }
  return [
    { statement: statements.insertRuns, rows: started },
    { statement: statements.continueRuns, rows: continued }
  ]
}

/**
 * Returns environments with due deliveries, those after `last` first, then from the beginning. Returns at most one more
 * than the claim has run ids, which shows that others wait. The query skips from one environment to the next, stops at
 * the limit, and scans nothing if no delivery is due.
 */
const dueEnvs = (
  { dialect, writer: sql }: Database["Service"],
  last: string,
  { now, exclude, runIds }: ClaimRequest
): Effect.Effect<ReadonlyArray<EnvId>, SqlError.SqlError> =>
  Effect.map(
    sql<{ readonly env_id: EnvId }>`
      WITH RECURSIVE later (env_id) AS (
        SELECT min(env_id) FROM deliveries WHERE env_id > ${last}
        UNION ALL
        SELECT (SELECT min(d.env_id) FROM deliveries d WHERE d.env_id > later.env_id)
        FROM later WHERE later.env_id IS NOT NULL
      ), sooner (env_id) AS (
        SELECT min(env_id) FROM deliveries WHERE env_id <= ${last}
        UNION ALL
        SELECT (SELECT min(d.env_id) FROM deliveries d WHERE d.env_id > sooner.env_id AND d.env_id <= ${last})
        FROM sooner WHERE sooner.env_id IS NOT NULL
      )
      SELECT env_id FROM (SELECT env_id FROM later UNION ALL SELECT env_id FROM sooner) AS waiting
      WHERE EXISTS (SELECT 1 FROM deliveries WHERE due_at <= ${now} AND due_at < ${sql.literal(String(parkedAt))})
        AND env_id IS NOT NULL AND env_id NOT IN (${dialect.texts(sql, exclude)})
        AND (SELECT min(d.due_at) FROM deliveries d WHERE d.env_id = waiting.env_id) <= ${now}
      LIMIT ${runIds.length + 1}`,
    (rows) => rows.map((row) => row.env_id)
  )

/**
 * Returns the time of the next delivery that is not parked, or null. Excluded environments may have a long backlog, so
 * overdue deliveries are searched only in `envs`, which has every other environment with due deliveries.
 * They may also have many sleeping runs. If all of the next deliveries are theirs, returns the time of the last of these:
 * the node then looks again.
 */
const nextDue = (
  { dialect, writer: sql }: Database["Service"],
  { exclude, now }: ClaimRequest,
  envs: ReadonlyArray<EnvId>
) => {
  const notParked = sql.literal(`due_at < ${parkedAt}`)
  const least =
    exclude.length === 0
      ? sql<{ readonly due_at: Timestamp | null }>`SELECT min(due_at) AS due_at FROM deliveries WHERE ${notParked}`
      : sql<{ readonly due_at: Timestamp | null }>`
          SELECT min(due_at) AS due_at FROM (
            SELECT (SELECT min(d.due_at) FROM deliveries d WHERE d.env_id = env.value) AS due_at
            FROM (${dialect.texts(sql, envs)}) AS env
            UNION ALL
            SELECT coalesce(
              min(CASE WHEN env_id NOT IN (${dialect.texts(sql, exclude)}) THEN due_at END),
              CASE WHEN count(*) = ${comingMax} THEN max(due_at) END
            ) FROM (
              SELECT env_id, due_at FROM deliveries WHERE due_at > ${now} AND ${notParked}
              ORDER BY due_at LIMIT ${comingMax}
            ) AS coming
          ) AS next WHERE ${notParked}`
  return Effect.map(least, ([row]) => row?.due_at ?? null)
}

type DueRow = Omit<Delivery, (typeof termFields)[number]> &
  Pick<Event, "event_type" | "event_data" | "event_time" | "created_at"> & {
    readonly terms: string
    readonly group_key: string | null
    readonly cancel_key: string | null
  }

/** A due delivery, without the data of a large event. */
type FoundRow = {
  readonly data_bytes: number
  /** 1 if the project was removed: the delivery is discarded. */
  readonly removed: number
} & (DueRow | (Omit<DueRow, "event_data"> & { readonly event_data: null }))

/** Selects at most `share` due deliveries of each environment with their events, the longest due first. */
const selectDue = (
  { dialect, writer: sql }: Database["Service"],
  envs: ReadonlyArray<EnvId>,
  now: Timestamp,
  share: number
) =>
  sql<FoundRow>`
    SELECT d.*, e.event_type, e.event_time, e.created_at, octet_length(e.event_data) AS data_bytes,
      CASE WHEN EXISTS (SELECT 1 FROM removed_projects r WHERE r.project_id = d.project_id) THEN 1 ELSE 0 END AS removed,
      CASE WHEN octet_length(e.event_data) <= ${sql.literal(String(smallDataBytes))} THEN e.event_data END AS event_data
    FROM (${dialect.selectDue(sql, envs, now, share)}) AS d
    JOIN events e ON e.env_id = d.env_id AND e.event_id = d.event_id
    ORDER BY d.due_at, d.delivery_id`

/** Adds the data of large events to the rows, and drops rows whose large events must wait for the next claim. */
const loadLargeData = Effect.fnUntraced(function* (
  { dialect, writer: sql }: Database["Service"],
  rows: ReadonlyArray<FoundRow>
): Effect.fn.Return<ReadonlyArray<DueRow>, SqlError.SqlError> {
  const taken = takeWithinBudget(rows, (row) => row.data_bytes)
  const large = taken.filter((row) => row.event_data === null)
  const data = new Map<EventId, Event["event_data"]>()
  if (large.length > 0) {
    const ids = dialect.among(sql, [...new Set(large.map((row) => row.event_id))])
    const envs = dialect.among(sql, [...new Set(large.map((row) => row.env_id))])
    const found = yield* sql<Pick<Event, "event_id" | "event_data">>`
      SELECT event_id, event_data FROM events WHERE env_id ${envs} AND event_id ${ids}`
    for (const { event_id, event_data } of found) data.set(event_id, event_data)
  }
  return taken.flatMap((row) => {
    // Not copied: nearly all rows are small, and copying one costs more than everything else here.
    if (row.event_data !== null) return row
    const event_data = data.get(row.event_id)
    return event_data === undefined ? [] : { ...row, event_data }
  })
})

const toClaim = (
  row: DueRow,
  terms: Terms,
  runId: RunId,
  request: ClaimRequest,
  { suspended, events }: KnownRecords
): Claim => {
  const delivery = toDelivery(row, terms)
  const event = toEvent(row)
  const batch = terms.batch?.events.flatMap((id) => events.get(id) ?? [])
  const claimed = batch === undefined ? { delivery, event } : { delivery, event, events: batch }
  const run = row.continues === null ? undefined : suspended.get(row.continues)
  if (run !== undefined) return continueClaim(run, claimed, runId, request)
  return { ...claimed, run: startRun(delivery, runId, request.lease.node_id, request.now) }
}

/** Records that deliveries refer to. */
interface KnownRecords {
  readonly suspended: ReadonlyMap<RunId, Run>
  /** Events of batches. */
  readonly events: ReadonlyMap<EventId, Event>
}

/** Copies each field by name, which is ten times as fast as a spread. */
const toDelivery = (row: DueRow, terms: Terms): Delivery => {
  const { retry, timeout_ms, group, caused_by, depth, durable } = terms
  const { awaited, ttl_ms, throttle, on_failure, recording, batch, traceparent } = terms
  return {
    delivery_id: row.delivery_id,
    env_id: row.env_id,
    event_id: row.event_id,
    stream_id: row.stream_id,
    project_id: row.project_id,
    project_name: row.project_name,
    build_id: row.build_id,
    ns: row.ns,
    var: row.var,
    run_type: row.run_type,
    retry,
    timeout_ms,
    group,
    attempt: row.attempt,
    due_at: row.due_at,
    caused_by,
    depth,
    first_run_id: row.first_run_id,
    durable,
    continues: row.continues,
    ...(awaited === undefined ? {} : { awaited }),
    ...(ttl_ms === undefined ? {} : { ttl_ms }),
    ...(throttle === undefined ? {} : { throttle }),
    ...(on_failure === undefined ? {} : { on_failure }),
    ...(recording === undefined ? {} : { recording }),
    ...(row.cancel_key === null ? {} : { cancel_key: row.cancel_key }),
    ...(batch === undefined ? {} : { batch }),
    ...(traceparent === undefined ? {} : { traceparent })
  }
}

const toEvent = (row: DueRow): Event => ({
  event_id: row.event_id,
  env_id: row.env_id,
  stream_id: row.stream_id,
  event_type: row.event_type,
  event_data: row.event_data,
  event_time: row.event_time,
  created_at: row.created_at
})

/** JSON of the column `terms`. Deliveries of earlier releases have no `group` or `durable`, those from outside no `depth`. */
const Terms = Schema.Struct({
  ...Struct.pick(Delivery.fields, ["retry", "timeout_ms", "caused_by", "awaited", "ttl_ms", "throttle", "on_failure"]),
  recording: Delivery.fields.recording,
  batch: Delivery.fields.batch,
  traceparent: Delivery.fields.traceparent,
  group: Delivery.fields.group.pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  durable: Delivery.fields.durable.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  depth: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
})
type Terms = typeof Terms.Type
const decodeTerms = Schema.decodeSync(Schema.fromJsonString(Terms))

/** Maximum cached terms. Deliveries of one function mostly share their terms, and parsing them is the largest cost. */
const termsCacheMax = 100

/** Returns a parser of terms with a cache. */
export const makeTermsParser = () => {
  let cache = new Map<string, Terms>()
  return (text: string): Terms => {
    const known = cache.get(text)
    if (known !== undefined) return known
    const terms = decodeTerms(text)
    if (cache.size >= termsCacheMax) cache = new Map()
    cache.set(text, terms)
    return terms
  }
}
