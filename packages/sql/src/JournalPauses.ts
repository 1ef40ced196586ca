/** Deliveries that pauses hold. All functions run in the caller's transaction. */
import {
  type ClaimRequest,
  covers,
  type Delivery,
  type DeliveryId,
  findPause,
  type Pause,
  pausedAt
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"
import type { Database } from "./Database.ts"

/** Maximum due deliveries of an environment that a claim examines for a pause. More than a claim may select. */
const examinedMax = 2000

type DueRow = Pick<Delivery, "delivery_id" | "env_id" | "project_id" | "ns" | "var" | "run_type" | "continues">

export interface Held<Row> {
  /** Deliveries that no pause covers. */
  readonly open: ReadonlyArray<Row>
  /** Number of held deliveries. */
  readonly held: number
}

/**
 * Holds due deliveries that the pauses of the claim cover, also beyond those of `seen`. Executes no statement if the pauses
 * cover none of `seen`.
 */
export const holdPaused = Effect.fnUntraced(function* <Row extends DueRow>(
  database: Database["Service"],
  seen: ReadonlyArray<Row>,
  { now, paused = [] }: Pick<ClaimRequest, "now" | "paused">
): Effect.fn.Return<Held<Row>, SqlError.SqlError> {
  const known = new Set(seen.flatMap((row) => findCovering(paused, row) ?? []))
  if (known.size === 0) return { open: seen, held: 0 }
  const active = yield* lockActive(database, [...known])
  const blocked = new Set<DeliveryId>()
  for (const row of seen) if (findCovering(active, row) !== undefined) blocked.add(row.delivery_id)
  let held = 0
  for (const pause of active) {
    if (seen.some((row) => row.continues === null && covers(pause, row))) held += yield* hold(database, pause, now)
  }
  return { open: seen.filter((row) => !blocked.has(row.delivery_id)), held }
})

const findCovering = (pauses: ReadonlyArray<Pause>, row: DueRow): Pause | undefined =>
  row.continues === null ? findPause(pauses, row) : undefined

/**
 * Returns the pauses that are active in the store, and locks them until the transaction ends. So nothing is held after the
 * end of a pause, which would not be released.
 */
const lockActive = ({ dialect, writer: sql }: Database["Service"], pauses: ReadonlyArray<Pause>) => {
  const among = (select: (pause: Pause) => string) => dialect.among(sql, [...new Set(pauses.map(select))])
  return Effect.map(
    sql<Pick<Pause, "pause_id">>`SELECT pause_id FROM pauses
      WHERE env_id ${among(({ env_id }) => env_id)} AND pause_id ${among(({ pause_id }) => pause_id)}
        AND resumed_at IS NULL ORDER BY env_id, pause_id${sql.literal(dialect.forUpdate())}`,
    (rows) => {
      const active = new Set(rows.map(({ pause_id }) => pause_id))
      return pauses.filter(({ pause_id }) => active.has(pause_id))
    }
  )
}

/** Holds due deliveries that the pause covers. Returns their number. */
const hold = ({ dialect, writer: sql }: Database["Service"], pause: Pause, now: ClaimRequest["now"]) => {
  const { env_id, project_id, ns, var: name } = pause
  const terms: Array<Statement.Fragment> = [sql`env_id = ${env_id} AND continues IS NULL AND run_type <> 'run'`]
  if (project_id !== null) terms.push(sql`project_id = ${project_id}`)
  if (ns !== null) terms.push(sql`ns = ${ns} AND var = ${name}`)
  return Effect.map(
    sql`WITH examined AS MATERIALIZED (
        SELECT env_id, due_at, delivery_id FROM deliveries WHERE env_id = ${env_id} AND due_at <= ${now}
        ORDER BY due_at, delivery_id LIMIT ${examinedMax}${sql.literal(dialect.skipLocked)}
      ) UPDATE deliveries SET due_at = ${pausedAt}, held_since = coalesce(held_since, ${now})
      WHERE ${sql.and(terms)} AND (env_id, due_at, delivery_id) IN (SELECT env_id, due_at, delivery_id FROM examined)`
      .raw,
    dialect.changes
  )
}
