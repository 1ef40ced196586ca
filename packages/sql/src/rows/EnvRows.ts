/** Rows of environments, with what makes some of them previews. */
import { Env } from "@weft/core"
import type { EnvPreview } from "@weft/core/adapter"
import type { RowOf } from "../Database.ts"

/** The columns of a preview are null for all other environments. */
export type EnvRow = Omit<RowOf<Env, "active">, "preview"> & {
  readonly preview_name: string | null
  readonly parent_env_id: EnvPreview["parent_env_id"] | null
  readonly parent_project_id: EnvPreview["parent_project_id"] | null
  readonly copy_project_id: EnvPreview["project_id"] | null
  readonly secrets: EnvPreview["secrets"] | null
}

/** SQL of a query for environments, up to its condition. */
export const selectEnvs = `SELECT envs.*, previews.name AS preview_name, previews.parent_env_id,
  previews.project_id AS parent_project_id, previews.copy_project_id, previews.secrets
  FROM envs LEFT JOIN previews ON previews.env_id = envs.env_id`

export const toEnv = ({
  preview_name: name,
  parent_env_id,
  parent_project_id,
  copy_project_id: project_id,
  secrets,
  ...row
}: EnvRow): Env => {
  const env = { ...row, active: row.active === 1 }
  if (name === null || parent_env_id === null || parent_project_id === null || project_id === null || secrets === null)
    return new Env(env, { disableChecks: true })
  const preview = { name, parent_env_id, parent_project_id, project_id, secrets }
  return new Env({ ...env, preview }, { disableChecks: true })
}

/** Returns the row of a new environment. The row of a preview is in another table. */
export const toEnvRow = ({ preview: _, ...env }: Env) => ({ ...env, active: env.active ? 1 : 0 })
