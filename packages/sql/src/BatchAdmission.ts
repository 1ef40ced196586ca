/** Batches of events, in the transaction that stores an event. The caller holds the lock of the batch's key. */
import {
  type ClosedBatch,
  type Delivery,
  decideBatch,
  EventBatch,
  type FlowRule,
  type FlowState,
  findWaiting,
  type OpenBatch,
  type StoredFlowState,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"

/** The effect of an event on the batches of a key. */
export interface BatchAdmission {
  /** The delivery to store; null if the event has joined a batch. */
  readonly admitted: Delivery | null
  /** The new state of the key; null if it stays. */
  readonly state: StoredFlowState | null
  /** True if a batch is due that was not before. */
  readonly isDue: boolean
}

/** A pending delivery with a batch. */
interface LockedBatch extends OpenBatch {
  readonly terms: string
}

export const makeAdmitBatch = ({ dialect, writer: sql }: Database["Service"]) => {
  /**
   * Locks the delivery of a batch. Returns undefined if it is not pending any more, or if another transaction holds it. That may
   * be a claim, which waits for a lock of this transaction.
   */
  const lock = (env_id: string, waiting: OpenBatch["waiting"]) =>
    Effect.map(
      sql<{ readonly terms: string }>`SELECT terms FROM deliveries
        WHERE env_id = ${env_id} AND due_at = ${waiting.due_at} AND delivery_id = ${waiting.delivery_id}
        ${sql.literal(dialect.skipLocked)}`,
      ([row]): LockedBatch | undefined => {
        if (row === undefined) return undefined
        const { batch } = decodeBatch(row.terms)
        return batch === undefined ? undefined : { waiting, batch, terms: row.terms }
      }
    )

  const store = (
    { env_id, depth }: Delivery,
    { waiting, terms }: LockedBatch,
    { batch, due_at }: ClosedBatch
  ) => sql`UPDATE deliveries SET due_at = ${due_at}, terms = ${changeTerms(terms, batch, depth)}
    WHERE env_id = ${env_id} AND due_at = ${waiting.due_at} AND delivery_id = ${waiting.delivery_id}`

  /** Records the batch of an event that is not the first one, so that its run can be found. */
  const record = ({ env_id, event_id }: Delivery, { events: [first_event_id = event_id] }: EventBatch) =>
    sql`INSERT INTO batch_events ${sql.insert({ env_id, event_id, first_event_id })} ON CONFLICT DO NOTHING`

  return Effect.fnUntraced(function* (
    rule: Extract<FlowRule, { _tag: "Batch" }>,
    delivery: Delivery,
    state: FlowState | undefined,
    now: Timestamp
  ): Effect.fn.Return<BatchAdmission, SqlError.SqlError> {
    const waiting = findWaiting(state, delivery, now)
    const open = waiting === undefined ? undefined : yield* lock(delivery.env_id, waiting)
    const decided = decideBatch(rule, delivery, open, now)
    const change = decided._tag === "Joined" ? decided : decided.closed
    if (open !== undefined && change !== null) yield* store(delivery, open, change)
    if (decided._tag === "Joined") yield* record(delivery, decided.batch)
    return {
      admitted: decided._tag === "Joined" ? null : { ...delivery, due_at: decided.due_at, batch: decided.batch },
      state: decided.state,
      isDue: open !== undefined && change !== null && change.due_at < open.waiting.due_at
    }
  })
}

const decodeBatch = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ batch: Schema.optionalKey(EventBatch) })))

/** Returns terms with another batch. Fields that a newer node has stored stay. */
const changeTerms = (text: string, batch: EventBatch, depth: number): string => {
  const terms: { readonly depth?: number } = JSON.parse(text)
  const deepest = Math.max(terms.depth ?? 0, depth)
  return JSON.stringify({ ...terms, ...(deepest === 0 ? {} : { depth: deepest }), batch })
}
