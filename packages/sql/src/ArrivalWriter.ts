/** Gives an event to waits that it ends. */
import type { EnvId, StoreUnavailable } from "@weft/core"
import { type JsonText, parkedAt, type RunId, type Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Database, orUnavailable } from "./Database.ts"

export interface Arrival {
  readonly env_id: EnvId
  /** Waits of the environment. */
  readonly waits: ReadonlyArray<{ readonly run_id: RunId; readonly seq: number }>
  /** The event as the function receives it. */
  readonly outcome: JsonText
  /** Time at which suspended runs continue. */
  readonly at: Timestamp
}

/** Stores an arrival in one transaction. Returns the runs whose waits had no event before. */
export type ArrivalWriter = (arrival: Arrival) => Effect.Effect<ReadonlyArray<RunId>, StoreUnavailable>

/**
 * Returns a writer on the database. Each of its statements locks rows in a fixed order, the waits before the deliveries, so
 * that transactions cannot deadlock.
 */
export const arrivalWriter = ({ dialect, writer: sql }: Database["Service"]): ArrivalWriter => {
  const lock = sql.literal(dialect.forUpdate())

  const write = Effect.fnUntraced(function* ({ env_id, waits, outcome, at }: Arrival) {
    const toKey = ({ run_id, seq }: Arrival["waits"][number]) => `${run_id} ${seq}`
    const select = (of: Arrival["waits"]) => {
      const runs = dialect.texts(sql, [...new Set(of.map(({ run_id }) => run_id))])
      const keys = dialect.texts(sql, of.map(toKey))
      return sql`env_id = ${env_id} AND run_id IN (${runs}) AND run_id || ' ' || seq IN (${keys})`
    }
    const open = yield* sql<Arrival["waits"][number]>`
      SELECT run_id, seq FROM workflow_waits WHERE ${select(waits)} AND outcome IS NULL ORDER BY run_id, seq${lock}`
    if (open.length === 0) return []
    yield* sql`UPDATE workflow_waits SET outcome = ${outcome} WHERE ${select(open)}`
    const runIds = [...new Set(open.map(({ run_id }) => run_id))]
    yield* sql`UPDATE deliveries SET due_at = ${at} WHERE (env_id, due_at, delivery_id) IN (
      SELECT env_id, due_at, delivery_id FROM deliveries
      WHERE env_id = ${env_id} AND continues IN (${dialect.texts(sql, runIds)})
        AND due_at > ${at} AND due_at <> ${parkedAt} ORDER BY continues${lock})`
    return runIds
  })

  return (arrival) => sql.withTransaction(write(arrival)).pipe(orUnavailable("arrive"))
}
