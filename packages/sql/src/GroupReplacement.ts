/** Ends the deliveries of a group that a new one replaces, in the transaction that stores it. */
import {
  type CancelledRun,
  type Delivery,
  type EventId,
  type Group,
  type Replaced,
  type RunId,
  replacedMessage,
  type Timestamp
} from "@weft/core/adapter"
import { Data, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { makeCancelRuns } from "./RunCancellation.ts"

/**
 * Another transaction holds deliveries of the group, and a claim among them waits for the lock of the group. So this
 * transaction must be rolled back and repeated.
 */
export class GroupBusy extends Data.TaggedError("GroupBusy")<Group> {}

/** Waits until no transaction holds deliveries of the group. The caller holds no lock of the group. */
export const awaitGroup = ({ dialect, writer: sql }: Database["Service"], { env_id, key }: Group) =>
  sql.withTransaction(
    sql`SELECT delivery_id FROM deliveries WHERE env_id = ${env_id} AND group_key = ${key}
      ORDER BY delivery_id${sql.literal(dialect.forUpdate())}`
  )

interface Member {
  readonly delivery_id: Delivery["delivery_id"]
  readonly event_id: EventId
  readonly continues: RunId | null
}

/** Returns a function that ends all deliveries of a group. The caller holds the lock of the group, so none of them starts. */
export const makeReplaceGroup = ({ dialect, ...database }: Database["Service"], statements: JournalStatements) => {
  const { writer: sql } = database
  const cancelRuns = makeCancelRuns({ dialect, ...database }, statements)

  return Effect.fnUntraced(function* (
    { env_id, group }: Pick<Delivery, "env_id" | "group">,
    now: Timestamp
  ): Effect.fn.Return<Replaced, SqlError.SqlError | GroupBusy> {
    const runs: Array<CancelledRun> = []
    const events: Array<EventId> = []
    if (group === null) return { runs, events }
    const members = sql`FROM deliveries WHERE env_id = ${env_id} AND group_key = ${group.key}`
    // A run may suspend, or end with a further attempt, while this waits for it. The next round finds its delivery.
    while (true) {
      const pending = yield* sql<Member>`SELECT delivery_id, event_id, continues ${members}`
      const running = yield* sql<{ readonly run_id: RunId }>`
        SELECT run_id FROM runs WHERE env_id = ${env_id} AND group_key = ${group.key}`
      if (pending.length + running.length === 0) return { runs, events }
      const locked = yield* sql<Member>`
        SELECT delivery_id, event_id, continues ${members}${sql.literal(dialect.skipLocked)}`
      if (pending.some((each) => locked.every(({ delivery_id }) => delivery_id !== each.delivery_id)))
        return yield* new GroupBusy({ env_id, key: group.key })
      const suspended = locked.flatMap(({ continues }) => continues ?? [])
      const runIds = [...running.map(({ run_id }) => run_id), ...suspended]
      if (runIds.length > 0) runs.push(...(yield* cancelRuns(env_id, { runIds }, now, runIds.length, replacedMessage)))
      const waiting = locked.filter(({ continues }) => continues === null)
      const ids = dialect.among(
        sql,
        locked.map(({ delivery_id }) => delivery_id)
      )
      yield* sql`DELETE ${members} AND delivery_id ${ids}`
      events.push(...waiting.map(({ event_id }) => event_id))
    }
  })
}
