/**
 * Permission maps: what a credential may do (specification, "Permission map").
 *
 * A JSON object from resource URNs `type:path` to arrays of actions. Pure: services ask `allows`.
 */
import { Schema } from "effect"

export const Action = Schema.Literals(["create", "read", "update", "delete", "execute"])
export type Action = typeof Action.Type

/** As stored and as shown. Made only by `parsePermissions`, so that one which is held is valid. */
export const PermissionMap = Schema.Record(Schema.String, Schema.Array(Schema.String)).pipe(
  Schema.brand("PermissionMap")
)
export type PermissionMap = typeof PermissionMap.Type
