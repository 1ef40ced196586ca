/** Throttles of due deliveries, in the transaction that claims them. */
import type { EnvId } from "@weft/core"
import { type Delivery, type DeliveryId, type Throttled, type Timestamp, throttle } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { batched } from "./Batch.ts"
import type { Database } from "./Database.ts"
import { makeFlowStates, toLockName } from "./FlowStates.ts"
import { postponeRow } from "./rows/DeliveryRows.ts"

/** A due delivery that a claim has locked. */
export type ThrottledRow = Throttled & Pick<Delivery, "due_at">

/**
 * Returns a function that postpones the deliveries that their throttles do not allow to start at `now`, and counts the starts
 * of the others. It returns the ids of the postponed ones, and executes nothing if no delivery has a throttle.
 */
export const makePostponeThrottled = (database: Database["Service"]) => {
  const { dialect, writer: sql } = database
  const states = makeFlowStates(database)
  const postpone = batched(sql, dialect, {
    row: postponeRow,
    text: (rows) => `WITH e (${postponeRow.list}) AS (${rows})
      UPDATE deliveries SET due_at = e.next_due_at, held_since = coalesce(deliveries.held_since, e.held_since)
      FROM e WHERE deliveries.env_id = e.env_id AND deliveries.due_at = e.due_at
        AND deliveries.delivery_id = e.delivery_id`
  })

  return Effect.fnUntraced(function* (
    due: ReadonlyArray<ThrottledRow>,
    now: Timestamp
  ): Effect.fn.Return<ReadonlySet<DeliveryId>, SqlError.SqlError> {
    const throttled = due.filter((each) => each.throttle !== undefined && each.continues === null)
    if (throttled.length === 0) return none
    const keys = throttled.flatMap(({ env_id, throttle: rate }) =>
      rate === undefined ? [] : [{ env_id, key: rate.key }]
    )
    yield* states.lock(keys.map(toLockName))
    const known = yield* states.read(keys)
    const read = (env_id: EnvId, key: string) => known.get(toLockName({ env_id, key }))
    const decision = throttle(throttled, read, now)
    yield* states.write(decision.states.map(({ env_id, key, stored }) => ({ env_id, key, ...stored })))
    const later = throttled.flatMap(({ env_id, due_at, delivery_id }) => {
      const next_due_at = decision.later.get(delivery_id)
      return next_due_at === undefined ? [] : [{ env_id, due_at, delivery_id, next_due_at, held_since: now }]
    })
    yield* postpone.run(postponeRow.encode(later))
    return new Set(decision.later.keys())
  })
}

const none: ReadonlySet<DeliveryId> = new Set()
