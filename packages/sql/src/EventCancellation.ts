/** Ends deliveries and runs that an event cancels (`cancelOn`), in the transaction that stores it. */
import {
  type CancelledRun,
  cancelledByMessage,
  cancelledMax,
  type DeliveryId,
  type Event,
  type EventId,
  type Replaced,
  type RunId,
  type Timestamp
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { makeCancelRuns } from "./RunCancellation.ts"

interface FoundDelivery {
  readonly delivery_id: DeliveryId
  readonly event_id: EventId
  readonly continues: RunId | null
}

/** Returns a function that ends deliveries and runs of earlier events with one of the keys, the oldest first. */
export const makeCancelByKeys = (database: Database["Service"], statements: JournalStatements) => {
  const { dialect, writer: sql } = database
  const cancelRuns = makeCancelRuns(database, statements)

  return Effect.fnUntraced(function* (
    event: Event,
    keys: ReadonlyArray<string>,
    now: Timestamp
  ): Effect.fn.Return<Replaced, SqlError.SqlError> {
    const runs: Array<CancelledRun> = []
    const events: Array<EventId> = []
    const { env_id, event_id } = event
    const own = sql`env_id = ${env_id} AND cancel_key ${dialect.among(sql, keys)} AND cancel_key IS NOT NULL
      AND event_id < ${event_id}`
    // A run may suspend, or end with a further attempt, while this waits for it. The next round finds its delivery.
    while (runs.length + events.length < cancelledMax) {
      const limit = cancelledMax - runs.length - events.length
      // This waits for claims, which then have runs.
      const pending = yield* sql<FoundDelivery>`
        SELECT delivery_id, event_id, continues FROM deliveries
        WHERE ${own} ORDER BY event_id, delivery_id LIMIT ${limit}${sql.literal(dialect.forUpdate())}`
      const running = yield* sql<{ readonly run_id: RunId }>`
        SELECT run_id FROM runs WHERE ${own} ORDER BY event_id, run_id LIMIT ${limit}`
      if (pending.length + running.length === 0) break
      const suspended = pending.flatMap(({ continues }) => continues ?? [])
      const runIds = [...suspended, ...running.map(({ run_id }) => run_id)].slice(0, limit)
      const message = cancelledByMessage(event)
      if (runIds.length > 0) runs.push(...(yield* cancelRuns(env_id, { runIds }, now, runIds.length, message)))
      const waiting = pending.filter(({ continues }) => continues === null)
      const ids = dialect.among(
        sql,
        pending.map(({ delivery_id }) => delivery_id)
      )
      yield* sql`DELETE FROM deliveries WHERE ${own} AND delivery_id ${ids}`
      events.push(...waiting.map((each) => each.event_id))
    }
    return { runs, events }
  })
}
