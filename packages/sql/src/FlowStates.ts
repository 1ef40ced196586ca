/**
 * States of the rules of flow control. All functions run in the caller's transaction.
 *
 * A transaction that decides about a key holds the key's advisory lock until it ends, so that each decision counts once.
 */
import type { EnvId } from "@weft/core"
import type { StoredFlowState } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { batched } from "./Batch.ts"
import type { Database } from "./Database.ts"
import { flowStateRow } from "./rows/FlowRows.ts"

export interface FlowKey {
  readonly env_id: EnvId
  readonly key: string
}

interface StateRow extends FlowKey, StoredFlowState {}

/** Name of the advisory lock of a key. */
export const toLockName = ({ env_id, key }: FlowKey): string => `${env_id} ${key}`

export const makeFlowStates = ({ dialect, writer: sql }: Database["Service"]) => {
  const upsert = batched(sql, dialect, {
    row: flowStateRow,
    text: (rows) => `INSERT INTO flow_states (${flowStateRow.list}) ${rows}
      ON CONFLICT (env_id, key) DO UPDATE SET expires_at = excluded.expires_at, state = excluded.state`
  })

  return {
    /** Acquires the locks, always in the same order so that transactions cannot deadlock. */
    lock: (names: ReadonlyArray<string>) =>
      names.length === 0 ? Effect.void : dialect.advisoryLock(sql, [...new Set(names)].sort()),

    /** Returns the stored states of the keys, by `toLockName`. */
    read: Effect.fnUntraced(function* (
      keys: ReadonlyArray<FlowKey>
    ): Effect.fn.Return<Map<string, StoredFlowState>, SqlError.SqlError> {
      const states = new Map<string, StoredFlowState>()
      for (const [envId, members] of Map.groupBy(keys, ({ env_id }) => env_id)) {
        const names = dialect.among(sql, [...new Set(members.map(({ key }) => key))])
        const rows = yield* sql<StateRow>`
          SELECT env_id, key, expires_at, state FROM flow_states WHERE env_id = ${envId} AND key ${names}`
        for (const row of rows) states.set(toLockName(row), row)
      }
      return states
    }),

    write: (rows: ReadonlyArray<StateRow>) => Effect.asVoid(upsert.run(flowStateRow.encode(rows))),

    /** Removes states that expired before `now`. Returns their number. */
    forget: (now: number, limit: number) =>
      sql`DELETE FROM flow_states WHERE (env_id, key) IN (
        SELECT env_id, key FROM flow_states WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}
      )`.raw.pipe(Effect.map(dialect.changes))
  }
}
