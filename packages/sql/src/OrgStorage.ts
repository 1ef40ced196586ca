/** The stored sum of an organization's bytes: files and uploaded parts of all its environments. */
import type { EnvId, OrgId } from "@weft/core"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

export interface OrgStorage {
  /**
   * Returns the sum and locks it until the transaction ends. Every transaction that changes the sum calls this first,
   * so that they cannot deadlock.
   */
  readonly lock: (orgId: OrgId) => Effect.Effect<number, SqlError.SqlError>
  readonly add: (orgId: OrgId, bytes: number) => Effect.Effect<void, SqlError.SqlError>
  readonly findOrg: (envId: EnvId) => Effect.Effect<OrgId | undefined, SqlError.SqlError>
}

export const orgStorage = (sql: SqlClient.SqlClient): OrgStorage => ({
  lock: (orgId) =>
    Effect.map(
      sql<{ bytes: number }>`INSERT INTO org_storage (org_id, bytes) VALUES (${orgId}, 0)
        ON CONFLICT (org_id) DO UPDATE SET bytes = org_storage.bytes RETURNING bytes`,
      ([row]) => row?.bytes ?? 0
    ),
  add: (orgId, bytes) => Effect.asVoid(sql`UPDATE org_storage SET bytes = bytes + ${bytes} WHERE org_id = ${orgId}`),
  findOrg: (envId) =>
    Effect.map(sql<{ org_id: OrgId }>`SELECT org_id FROM envs WHERE env_id = ${envId}`, ([row]) => row?.org_id)
})
