/** Callers of an environment that enter one of its previews. */
import type { Identity } from "../../tenants/access/Caller.ts"
import { PermissionMap } from "../../tenants/access/Permission.ts"
import type { Env, EnvPreview } from "../../tenants/orgs/Tenant.ts"

/**
 * Returns the caller within the preview, or null if the environment is no preview of the caller's environment. Permissions
 * hold as they are. The preview has the name of the project; an id of the project stands for that of its copy.
 */
export const enterPreview = (caller: Identity, { env_id, preview }: Env): Identity | null =>
  preview === undefined || preview.parent_env_id !== caller.env_id
    ? null
    : { ...caller, env_id, preview: preview.name, permissions: withCopy(caller.permissions, preview) }

const withCopy = (granted: PermissionMap, { parent_project_id, project_id }: EnvPreview): PermissionMap => {
  const byId = Object.entries(granted).filter(([key]) => key.endsWith(`:${parent_project_id}`))
  if (byId.length === 0) return granted
  const copies = byId.map(([key, actions]) => [key.replace(parent_project_id, project_id), actions] as const)
  return PermissionMap.make({ ...granted, ...Object.fromEntries(copies) })
}
