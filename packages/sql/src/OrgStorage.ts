/** The kept sum of an organization's bytes: files and uploaded parts of all its environments. */
import type { EnvId, OrgId } from "@weft/core"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

export interface OrgStorage {
  /**
   * The sum, which nobody else changes until the transaction ends. Asked for first in every transaction that changes
   * it, so that one waits for the other where they begin, and not in a circle.
   */
  readonly hold: (orgId: OrgId) => Effect.Effect<number, SqlError.SqlError>
  readonly add: (orgId: OrgId, bytes: number) => Effect.Effect<void, SqlError.SqlError>
  readonly orgOf: (envId: EnvId) => Effect.Effect<OrgId | undefined, SqlError.SqlError>
}

export const orgStorage = (sql: SqlClient.SqlClient): OrgStorage => ({
  hold: (orgId) =>
    Effect.map(
      sql<{ bytes: number }>`INSERT INTO org_storage (org_id, bytes) VALUES (${orgId}, 0)
        ON CONFLICT (org_id) DO UPDATE SET bytes = org_storage.bytes RETURNING bytes`,
      ([row]) => row?.bytes ?? 0
    ),
  add: (orgId, bytes) => Effect.asVoid(sql`UPDATE org_storage SET bytes = bytes + ${bytes} WHERE org_id = ${orgId}`),
  orgOf: (envId) =>
    Effect.map(sql<{ org_id: OrgId }>`SELECT org_id FROM envs WHERE env_id = ${envId}`, ([row]) => row?.org_id)
})
