/** Gives events to waits that they end. */
import type { EnvId, StoreUnavailable } from "@weft/core"
import { type JsonText, parkedAt, type RunId, type Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import { batched } from "./Batch.ts"
import { type Database, orUnavailable } from "./Database.ts"
import { makeRow } from "./rows/Row.ts"

export interface Arrival {
  readonly env_id: EnvId
  /** Waits of the environment, each once. */
  readonly waits: ReadonlyArray<EndedWait>
  /** Time at which suspended runs continue. */
  readonly at: Timestamp
}

export interface EndedWait {
  readonly run_id: RunId
  readonly seq: number
  /** The event as the function receives it. */
  readonly outcome: JsonText
}

/** Maximum characters that one transaction writes into waits, each of which has a copy of its event. */
const arrivalLengthMax = 1024 * 1024

/** Maximum waits that one transaction ends. */
const arrivalWaitsMax = 500

type WaitKey = Pick<EndedWait, "run_id" | "seq">

const toKey = ({ run_id, seq }: WaitKey): string => `${run_id} ${seq}`

const outcomeRow = makeRow({ env_id: "text", run_id: "text", seq: "integer", outcome: "text" })

/** Stores an arrival in one transaction. Returns the runs whose waits had no event before. */
export type ArrivalWriter = (arrival: Arrival) => Effect.Effect<ReadonlyArray<RunId>, StoreUnavailable>

/** Stores an arrival of any size in several transactions. Returns the runs whose waits had no event before. */
export const writeInParts = Effect.fnUntraced(function* (write: ArrivalWriter, { waits, ...arrival }: Arrival) {
  const found = new Set<RunId>()
  let from = 0
  while (from < waits.length) {
    const until = endOfPart(waits, from)
    for (const runId of yield* write({ ...arrival, waits: waits.slice(from, until) })) found.add(runId)
    from = until
    // SQLite answers at once: others have their turn between transactions.
    yield* Effect.yieldNow
  }
  return [...found]
})

/** Returns the index after the last wait of the part that begins at `from`. */
const endOfPart = (waits: ReadonlyArray<EndedWait>, from: number): number => {
  const last = Math.min(waits.length, from + arrivalWaitsMax)
  let length = 0
  for (let index = from; index < last; index++) {
    length += waits[index]?.outcome.length ?? 0
    if (index > from && length > arrivalLengthMax) return index
  }
  return last
}

/**
 * Returns a writer on the database. Each of its statements locks rows in a fixed order, the waits before the deliveries, so
 * that transactions cannot deadlock.
 */
export const arrivalWriter = ({ dialect, writer: sql }: Database["Service"]): ArrivalWriter => {
  const lock = sql.literal(dialect.forUpdate())
  const update = batched(sql, dialect, {
    row: outcomeRow,
    text: (rows) => `WITH ended (${outcomeRow.list}) AS (${rows})
      UPDATE workflow_waits SET outcome = ended.outcome FROM ended
      WHERE workflow_waits.env_id = ended.env_id AND workflow_waits.run_id = ended.run_id
        AND workflow_waits.seq = ended.seq`
  })

  const write = Effect.fnUntraced(function* ({ env_id, waits, at }: Arrival) {
    const outcomes = new Map(waits.map((wait) => [toKey(wait), wait.outcome]))
    const runs = dialect.among(sql, [...new Set(waits.map(({ run_id }) => run_id))])
    const open = yield* sql<WaitKey>`
      SELECT run_id, seq FROM workflow_waits
      WHERE env_id = ${env_id} AND run_id ${runs}
        AND run_id || ' ' || seq ${dialect.among(sql, [...outcomes.keys()])}
        AND outcome IS NULL ORDER BY run_id, seq${lock}`
    if (open.length === 0) return []
    yield* update.run(
      outcomeRow.encode(open.map((wait) => ({ ...wait, env_id, outcome: outcomes.get(toKey(wait)) ?? null })))
    )
    const runIds = [...new Set(open.map(({ run_id }) => run_id))]
    yield* sql`UPDATE deliveries SET due_at = ${at} WHERE (env_id, due_at, delivery_id) IN (
      SELECT env_id, due_at, delivery_id FROM deliveries
      WHERE env_id = ${env_id} AND continues ${dialect.among(sql, runIds)}
        AND due_at > ${at} AND due_at <> ${parkedAt} ORDER BY continues${lock})`
    return runIds
  })

  return (arrival) => sql.withTransaction(write(arrival)).pipe(orUnavailable("arrive"))
}
