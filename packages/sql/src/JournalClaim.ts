/**
 * Taking due deliveries, fairly between environments.
 *
 * Environments take turns, from where the last claim stopped, and each gets the same share of a claim. The
 * database finds them by stepping from one to the next in the primary key, so that the size of a backlog does
 * not matter. Nodes that claim at the same time pass over what the others are taking.
 */
import {
  type Claim,
  type ClaimRequest,
  type ClaimResult,
  Delivery,
  type EnvId,
  type Event,
  type EventId,
  parkedAt,
  type RunId,
  smallDataBytes,
  startRun,
  type Timestamp,
  withinClaim
} from "@weft/core"
import { Effect, Schema, Struct } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"
import type { Rows } from "./Dialect.ts"
import { parkFull } from "./JournalGroups.ts"
import { addStart, type JournalStatements } from "./JournalStatements.ts"

/** What a store keeps between claims. */
export interface Turns {
  /** The environment that was served last. */
  last: string
  readonly termsOf: (text: string) => typeof Terms.Type
}

/** Claims in the transaction of the caller, after what was freed was let in, and stores the rows of `lease` there. */
export const claimDue = Effect.fnUntraced(function* (
  database: Database["Service"],
  statements: JournalStatements,
  turns: Turns,
  request: ClaimRequest,
  lease: Rows
): Effect.fn.Return<Omit<ClaimResult, "unparked">, SqlError.SqlError> {
  const limit = request.runIds.length
  const due = yield* dueEnvs(database, turns.last, request)
  const turn = due.slice(0, limit)
  const othersWait = due.length > limit
  if (turn.length === 0) {
    yield* statements.renewLeases.run(lease)
    return { claims: [], parked: 0, next_due_at: yield* nextDue(database, request, turn) }
  }

  const share = Math.min(request.perEnv, Math.max(1, Math.ceil(limit / turn.length)))
  // One more than the share of each tells who is left behind, unless others are anyhow.
  const most = othersWait ? share : share + 1
  const byEnv = Map.groupBy(yield* longestDue(database, turn, request.now, most), (row) => row.env_id)
  const shares = turn.flatMap((env) => (byEnv.get(env) ?? []).slice(0, share))
  const seen = yield* withData(database, shares)
  const { closed, parked } = yield* parkFull(database, seen, request.now)
  const chosen = closed.size === 0 ? seen : seen.filter((row) => !closed.has(row.delivery_id))
  const claims = request.runIds.flatMap((runId, index) => {
    const row = chosen[index]
    return row === undefined ? [] : [toClaim(row, turns.termsOf(row.terms), runId, request)]
  })
  const runs: Rows = []
  // Terms stay as they are: a newer node may have put there what this one does not know.
  for (const [index, { delivery, run }] of claims.entries()) addStart(runs, run, delivery, chosen[index]?.terms)
  const taken = claims.flatMap(({ delivery: d }) => [d.env_id, d.due_at, d.delivery_id])
  yield* statements.independent([
    { statement: statements.renewLeases, rows: lease },
    { statement: statements.insertRuns, rows: runs },
    { statement: statements.deleteDeliveries, rows: taken }
  ])
  turns.last = claims.at(-1)?.delivery.env_id ?? turns.last

  // What is parked may have been all that was beyond the shares.
  const beyondShare = parked === 0 && [...byEnv.values()].some((rows) => rows.length > share)
  if (othersWait || seen.length < shares.length || claims.length < chosen.length || beyondShare) {
    return { claims, parked, next_due_at: request.now }
  }
  return { claims, parked, next_due_at: yield* nextDue(database, request, turn) }
})

/**
 * Environments whose longest due delivery is due, those behind `last` first, then from the beginning: as many as are
 * wanted at most, and one more that tells whether others wait. The database steps from one to the next, and no
 * further than it must; not at all when nothing is due.
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
 * When the next delivery is due that waits and is not parked; null when none does. Of what is due now only that of
 * `turn`, which are all environments that have some, is looked at: an excluded one may have a long backlog.
 */
const nextDue = (
  { dialect, writer: sql }: Database["Service"],
  { exclude, now }: ClaimRequest,
  turn: ReadonlyArray<EnvId>
) => {
  const notParked = sql.literal(`due_at < ${parkedAt}`)
  const least =
    exclude.length === 0
      ? sql<{ readonly due_at: Timestamp | null }>`SELECT min(due_at) AS due_at FROM deliveries WHERE ${notParked}`
      : sql<{ readonly due_at: Timestamp | null }>`
          SELECT min(due_at) AS due_at FROM (
            SELECT (SELECT min(d.due_at) FROM deliveries d WHERE d.env_id = env.value) AS due_at
            FROM (${dialect.texts(sql, turn)}) AS env
            UNION ALL
            SELECT min(due_at) FROM deliveries
            WHERE due_at > ${now} AND ${notParked} AND env_id NOT IN (${dialect.texts(sql, exclude)})
          ) AS next WHERE ${notParked}`
  return Effect.map(least, ([row]) => row?.due_at ?? null)
}

type DueRow = Omit<Delivery, "retry" | "timeout_ms" | "caused_by" | "group" | "traceparent"> &
  Pick<Event, "event_type" | "event_data" | "event_time" | "created_at"> & {
    readonly terms: string
    readonly group_key: string | null
  }

/** Without the data where the event is large. */
type FoundRow = { readonly data_bytes: number } & (
  | DueRow
  | (Omit<DueRow, "event_data"> & { readonly event_data: null })
)

/** At most `share` due deliveries of each environment, the longest due first, with their events. */
const longestDue = (
  { dialect, writer: sql }: Database["Service"],
  envs: ReadonlyArray<EnvId>,
  now: Timestamp,
  share: number
) =>
  sql<FoundRow>`
    SELECT d.*, e.event_type, e.event_time, e.created_at, octet_length(e.event_data) AS data_bytes,
      CASE WHEN octet_length(e.event_data) <= ${sql.literal(String(smallDataBytes))} THEN e.event_data END AS event_data
    FROM (${dialect.longestDue(sql, envs, now, share)}) AS d
    JOIN events e ON e.env_id = d.env_id AND e.event_id = d.event_id
    ORDER BY d.due_at, d.delivery_id`

/** The rows with all data, without those whose large events are left for the next claim. */
const withData = Effect.fnUntraced(function* (
  { dialect, writer: sql }: Database["Service"],
  rows: ReadonlyArray<FoundRow>
): Effect.fn.Return<ReadonlyArray<DueRow>, SqlError.SqlError> {
  const taken = withinClaim(rows, (row) => row.data_bytes)
  const large = taken.filter((row) => row.event_data === null)
  const data = new Map<EventId, Event["event_data"]>()
  if (large.length > 0) {
    const ids = dialect.texts(sql, [...new Set(large.map((row) => row.event_id))])
    const envs = dialect.texts(sql, [...new Set(large.map((row) => row.env_id))])
    const found = yield* sql<Pick<Event, "event_id" | "event_data">>`
      SELECT event_id, event_data FROM events WHERE env_id IN (${envs}) AND event_id IN (${ids})`
    for (const { event_id, event_data } of found) data.set(event_id, event_data)
  }
  return taken.flatMap((row) => {
    // As they came: nearly all are small, and copies of rows cost more than all else that is done with them.
    if (row.event_data !== null) return row
    const event_data = data.get(row.event_id)
    return event_data === undefined ? [] : { ...row, event_data }
  })
})

const toClaim = (row: DueRow, kept: typeof Terms.Type, runId: RunId, { lease, now }: ClaimRequest): Claim => {
  const delivery = deliveryOf(row, kept)
  return { delivery, event: eventOf(row), run: startRun(delivery, runId, lease.node_id, now) }
}

/** Name by name: to copy whatever a row has takes ten times as long. */
const deliveryOf = (
  row: DueRow,
  { retry, timeout_ms, group, caused_by, traceparent }: typeof Terms.Type
): Delivery => ({
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
  first_run_id: row.first_run_id,
  ...(traceparent === undefined ? {} : { traceparent })
})

const eventOf = (row: DueRow): Event => ({
  event_id: row.event_id,
  env_id: row.env_id,
  stream_id: row.stream_id,
  event_type: row.event_type,
  event_data: row.event_data,
  event_time: row.event_time,
  created_at: row.created_at
})

/** Deliveries that wait since before groups came have none. */
const Terms = Schema.Struct({
  ...Struct.pick(Delivery.fields, ["retry", "timeout_ms", "caused_by", "traceparent"]),
  group: Delivery.fields.group.pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
})
const decodeTerms = Schema.decodeSync(Schema.fromJsonString(Terms))

/** Deliveries of one function mostly have the same terms, which take longer to read than all else of them. */
const termsKept = 100

/** For `Turns`. */
export const makeTermsOf = () => {
  let kept = new Map<string, typeof Terms.Type>()
  return (text: string): typeof Terms.Type => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const terms = decodeTerms(text)
    if (kept.size >= termsKept) kept = new Map()
    kept.set(text, terms)
    return terms
  }
}
