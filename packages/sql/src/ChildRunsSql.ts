/** Child runs that durable runs wait for. All reads are short. */
import type { EnvId, StoreUnavailable } from "@weft/core"
import {
  type ChildRef,
  type EventId,
  formatChildEnd,
  type LastRun,
  type RunId,
  type RunRef,
  type Timestamp
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type ArrivalWriter, writeInParts } from "./ArrivalWriter.ts"
import type { Database } from "./Database.ts"
import { isRunning } from "./StatementText.ts"

/** Maximum children per statement. */
const childrenMax = 500

/** Condition of the partial index of waits `w` for child runs. */
const isOpen = "w.child_event_id IS NOT NULL AND w.outcome IS NULL"

interface WaitForChild {
  readonly run_id: RunId
  readonly seq: number
  readonly event_id: EventId
}

/** Returns the reads and writes of child runs. `write` gives outcomes to waits. */
export const makeChildRuns = ({ dialect, reader: sql }: Database["Service"], write: ArrivalWriter) => {
  const open = sql.literal(isOpen)

  /** Lists waits whose children have ended. */
  const findEnded = (envId: EnvId, events: ReadonlyArray<EventId>) => {
    const ofChild = sql`env_id = w.env_id AND event_id = w.child_event_id`
    return sql<WaitForChild>`
      SELECT w.run_id, w.seq, w.child_event_id AS event_id FROM workflow_waits w
      WHERE w.env_id = ${envId} AND w.child_event_id ${dialect.among(sql, events)} AND ${open}
        AND EXISTS (SELECT 1 FROM events WHERE ${ofChild})
        AND NOT EXISTS (SELECT 1 FROM runs r WHERE ${ofChild} AND event_id IS NOT NULL AND run_type = 'call'
          AND ${sql.literal(isRunning("r"))})
        AND NOT EXISTS (SELECT 1 FROM deliveries WHERE ${ofChild} AND run_type = 'call')`
  }

  const findLast = (envId: EnvId, eventId: EventId) =>
    Effect.map(
      sql<LastRun>`SELECT run_id, status, result FROM runs
        WHERE env_id = ${envId} AND event_id = ${eventId} AND run_type = 'call'
        ORDER BY attempt DESC, run_id DESC LIMIT 1`,
      ([last]) => last ?? null
    )

  const endOf = Effect.fnUntraced(function* (
    envId: EnvId,
    events: ReadonlyArray<EventId>,
    at: Timestamp
  ): Effect.fn.Return<ReadonlyArray<RunRef>, SqlError.SqlError | StoreUnavailable> {
    const waits = yield* Effect.forEach(yield* findEnded(envId, events), ({ event_id, run_id, seq }) =>
      Effect.map(findLast(envId, event_id), (last) => ({ run_id, seq, outcome: formatChildEnd(last) }))
    )
    const runIds = yield* writeInParts(write, { env_id: envId, waits, at })
    return runIds.map((run_id) => ({ env_id: envId, run_id }))
  })

  return {
    children: (after: ChildRef | null, limit: number) =>
      sql<ChildRef>`SELECT w.env_id, w.child_event_id AS event_id FROM workflow_waits w
        WHERE ${open} AND (w.env_id, w.child_event_id) > (${after?.env_id ?? ""}, ${after?.event_id ?? ""})
        ORDER BY w.env_id, w.child_event_id LIMIT ${limit}`,

    endChildren: Effect.fnUntraced(function* (children: ReadonlyArray<ChildRef>, at: Timestamp) {
      const parents = new Map<RunId, RunRef>()
      for (const [envId, members] of Map.groupBy(children, ({ env_id }) => env_id)) {
        for (let from = 0; from < members.length; from += childrenMax) {
          const events = members.slice(from, from + childrenMax).map(({ event_id }) => event_id)
          for (const parent of yield* endOf(envId, events, at)) parents.set(parent.run_id, parent)
        }
      }
      return [...parents.values()]
    })
  }
}
