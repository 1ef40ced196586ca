/**
 * Taking due deliveries, fairly between environments.
 *
 * Environments take turns, from where the last claim stopped, and each gets the same share of a claim. The
 * database finds them by stepping from one to the next in the primary key, so that the size of a backlog does
 * not matter.
 */
import {
  type Claim,
  type ClaimRequest,
  type ClaimResult,
  Delivery,
  type EnvId,
  type Event,
  parkedAt,
  type RunId,
  startRun,
  type Timestamp
} from "@weft/core"
import { Effect, Schema, Struct } from "effect"
import type { SqlError } from "effect/sql"
import type { Rows } from "./Batch.ts"
import type { Database } from "./Database.ts"
import { parkFull } from "./JournalGroups.ts"
import { addStart, type JournalStatements } from "./JournalStatements.ts"

/** Where the turns of a store stand: the environment that was served last. */
export interface Turns {
  last: string
}

/** Claims in the transaction of the caller. */
export const claimDue = Effect.fnUntraced(function* (
  database: Database["Service"],
  statements: JournalStatements,
  turns: Turns,
  request: ClaimRequest
): Effect.fn.Return<ClaimResult, SqlError.SqlError> {
  const before = (yield* waitingEnvs(database, request.exclude)).filter(isQueued)
  const due = before.filter((env) => env.due_at <= request.now).map((env) => env.env_id)
  if (due.length === 0) return { claims: [], parked: 0, next_due_at: earliest(before) }

  const limit = request.runIds.length
  const share = Math.min(request.perEnv, Math.max(1, Math.ceil(limit / due.length)))
  const turn = [...due.filter((env) => env > turns.last), ...due.filter((env) => env <= turns.last)].slice(0, limit)
  // One more than the share of each tells who is left behind.
  const byEnv = Map.groupBy(yield* longestDue(database, turn, request.now, share + 1), (row) => row.env_id)
  const seen = turn.flatMap((env) => (byEnv.get(env) ?? []).slice(0, share))
  const { closed, parked } = yield* parkFull(database, seen, request.now)
  const chosen = closed.size === 0 ? seen : seen.filter((row) => !closed.has(row.delivery_id))
  const claims = request.runIds.flatMap((runId, index) => {
    const row = chosen[index]
    return row === undefined ? [] : [toClaim(row, runId, request)]
  })
  const runs: Rows = []
  for (const { delivery, run } of claims) addStart(runs, run, delivery)
  yield* statements.insertRuns.run(runs)
  yield* statements.deleteDeliveries.run(claims.flatMap(({ delivery: d }) => [d.env_id, d.due_at, d.delivery_id]))
  turns.last = claims.at(-1)?.delivery.env_id ?? turns.last

  // What is parked may have been all that was beyond the shares.
  const beyondShare = parked === 0 && [...byEnv.values()].some((rows) => rows.length > share)
  if (turn.length < due.length || claims.length < chosen.length || beyondShare) {
    return { claims, parked, next_due_at: request.now }
  }
  const others = before.filter((env) => env.due_at > request.now)
  const heads = (yield* headsOf(database, turn)).filter(isQueued)
  return { claims, parked, next_due_at: earliest([...others, ...heads]) }
})

interface WaitingEnv {
  readonly env_id: EnvId
  /** When its longest due delivery is, or was, due. */
  readonly due_at: Timestamp
}

/** Whether not all that waits there is parked, which comes after everything else. */
const isQueued = ({ due_at }: WaitingEnv): boolean => due_at < parkedAt

/** The environments with waiting deliveries, in ascending order. */
const waitingEnvs = ({ dialect, writer: sql }: Database["Service"], exclude: ReadonlyArray<EnvId>) =>
  sql<WaitingEnv>`
    WITH RECURSIVE waiting (env_id) AS (
      SELECT min(env_id) FROM deliveries
      UNION ALL
      SELECT (SELECT min(d.env_id) FROM deliveries d WHERE d.env_id > waiting.env_id)
      FROM waiting WHERE waiting.env_id IS NOT NULL
    )
    SELECT env_id, (SELECT min(d.due_at) FROM deliveries d WHERE d.env_id = waiting.env_id) AS due_at
    FROM waiting WHERE env_id IS NOT NULL AND env_id NOT IN (${dialect.texts(sql, exclude)})
    ORDER BY env_id`

/** As `waitingEnvs`, for those of `envs` where something waits. */
const headsOf = ({ dialect, writer: sql }: Database["Service"], envs: ReadonlyArray<EnvId>) =>
  sql<WaitingEnv>`
    SELECT env.value AS env_id, min(d.due_at) AS due_at
    FROM (${dialect.texts(sql, envs)}) AS env JOIN deliveries d ON d.env_id = env.value GROUP BY env.value`

const earliest = (envs: ReadonlyArray<WaitingEnv>): Timestamp | null =>
  envs.reduce<Timestamp | null>((least, { due_at }) => (least === null || due_at < least ? due_at : least), null)

type DueRow = Omit<Delivery, "retry" | "timeout_ms" | "caused_by" | "group"> &
  Pick<Event, "event_type" | "event_data" | "event_time" | "created_at"> & {
    readonly terms: string
    readonly group_key: string | null
  }

/** At most `share` due deliveries of each environment, the longest due first, with their events. */
const longestDue = (
  { dialect, writer: sql }: Database["Service"],
  envs: ReadonlyArray<EnvId>,
  now: Timestamp,
  share: number
) =>
  sql<DueRow>`
    SELECT d.*, e.event_type, e.event_data, e.event_time, e.created_at
    FROM (${dialect.texts(sql, envs)}) AS env
    JOIN deliveries d ON d.env_id = env.value AND (d.due_at, d.delivery_id) IN (
      SELECT due_at, delivery_id FROM deliveries WHERE env_id = env.value AND due_at <= ${now}
      ORDER BY due_at, delivery_id LIMIT ${share}
    )
    JOIN events e ON e.env_id = d.env_id AND e.event_id = d.event_id
    ORDER BY d.due_at, d.delivery_id`

const toClaim = (row: DueRow, runId: RunId, { lease, now }: ClaimRequest): Claim => {
  const { terms, group_key: _, event_type, event_data, event_time, created_at, ...rest } = row
  const { env_id, event_id, stream_id } = rest
  const delivery = { ...rest, ...decodeTerms(terms) }
  const event = { env_id, event_id, stream_id, event_type, event_data, event_time, created_at }
  return { delivery, event, run: startRun(delivery, runId, lease.node_id, now) }
}

/** Deliveries that wait since before groups came have none. */
const Terms = Schema.Struct({
  ...Struct.pick(Delivery.fields, ["retry", "timeout_ms", "caused_by"]),
  group: Delivery.fields.group.pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
})
const decodeTerms = Schema.decodeSync(Schema.fromJsonString(Terms))
