/** Deletes the rows of removed previews. */
import type { EnvId } from "@weft/core"
import type { Preview, Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Database } from "./Database.ts"

/**
 * Tables with rows of environments, and the column that selects some of them. The removal of projects deletes from others.
 * Entries of the audit log remain.
 */
const tables = [
  ["events", "event_id"],
  ["event_counts", "event_type"],
  ["deliveries", "delivery_id"],
  ["schedules", "schedule_id"],
  ["once", "key"],
  ["flow_states", "key"],
  ["operations", "operation_id"],
  ["pauses", "pause_id"],
  ["alert_rules", "alert_id"],
  ["run_series", "at"],
  ["api_keys", "api_key_id"]
] as const

export const makePreviewPurge = ({ dialect, writer: sql }: Database["Service"]) => {
  /** Deletes at most `limit` rows of the table, and returns their number. */
  const deleteFrom = ([table, key]: (typeof tables)[number], envId: EnvId, limit: number) => {
    const [name, column] = [sql.literal(table), sql.literal(key)]
    const some = sql`SELECT ${column} FROM ${name} WHERE env_id = ${envId} LIMIT ${limit}`
    return Effect.map(sql`DELETE FROM ${name} WHERE env_id = ${envId} AND ${column} IN (${some})`.raw, dialect.changes)
  }

  const hasRows = (envId: EnvId) =>
    Effect.map(
      sql<{ readonly found: number }>`SELECT CASE WHEN EXISTS (SELECT 1 FROM runs WHERE env_id = ${envId})
        OR EXISTS (SELECT 1 FROM files WHERE env_id = ${envId})
        OR EXISTS (SELECT 1 FROM uploads WHERE env_id = ${envId}) THEN 1 ELSE 0 END AS found`,
      ([row]) => row?.found === 1
    )

  /** True if the preview and its project were removed, and nothing of the project can start or is left to discard. */
  const isRemoved = (envId: EnvId) =>
    Effect.map(
      sql<{ readonly removed: number }>`SELECT CASE WHEN EXISTS (SELECT 1 FROM projects WHERE env_id = ${envId})
          OR EXISTS (SELECT 1 FROM removed_projects WHERE env_id = ${envId} AND swept = 0) THEN 0 ELSE 1 END AS removed
        FROM previews WHERE env_id = ${envId} AND removed_at IS NOT NULL`,
      ([row]) => row?.removed === 1
    )

  return {
    purge: Effect.fnUntraced(function* (
      envId: EnvId,
      now: Timestamp,
      limit: number
    ): Effect.fn.Return<"More" | "Waiting" | "Empty", SqlError.SqlError> {
      if (!(yield* isRemoved(envId))) return "Waiting"
      const ofKeys = sql`api_key_id IN (SELECT api_key_id FROM api_keys WHERE env_id = ${envId})`
      yield* sql`DELETE FROM sessions WHERE ${ofKeys}`
      yield* sql`DELETE FROM service_keys WHERE ${ofKeys}`
      yield* sql`UPDATE uploads SET expires_at = ${now} WHERE env_id = ${envId} AND expires_at > ${now}`
      let hasMore = false
      for (const table of tables) if ((yield* deleteFrom(table, envId, limit)) >= limit) hasMore = true
      if (hasMore) return "More"
      return (yield* hasRows(envId)) ? "Waiting" : "Empty"
    }),

    /** Runs in the caller's transaction. */
    forget: Effect.fnUntraced(function* ({
      env_id,
      parent_env_id,
      project_id
    }: Preview): Effect.fn.Return<void, SqlError.SqlError> {
      const removed =
        yield* sql`DELETE FROM previews WHERE env_id = ${env_id} AND removed_at IS NOT NULL RETURNING env_id`
      if (removed.length === 0) return
      yield* sql`INSERT INTO run_counts
          (env_id, project_id, project_name, run_type, status, n, bytes, month, month_runs)
        SELECT ${parent_env_id}, ${project_id}, project_name, run_type, status, 0, 0, max(month), sum(month_runs)
        FROM run_counts
        WHERE env_id = ${env_id} AND month = (SELECT max(month) FROM run_counts WHERE env_id = ${env_id})
        GROUP BY project_name, run_type, status
        ON CONFLICT (env_id, project_id, project_name, run_type, status) DO UPDATE SET
          month_runs = CASE WHEN excluded.month > run_counts.month THEN excluded.month_runs
            WHEN excluded.month = run_counts.month THEN run_counts.month_runs + excluded.month_runs
            ELSE run_counts.month_runs END,
          month = CASE WHEN excluded.month > run_counts.month THEN excluded.month ELSE run_counts.month END`
      yield* sql`DELETE FROM run_counts WHERE env_id = ${env_id}`
      yield* sql`DELETE FROM envs WHERE env_id = ${env_id}`
    })
  }
}
