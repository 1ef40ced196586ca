/** Previews of projects, each with an environment of its own. */
import type { Dialect } from "../Dialect.ts"

export const previews = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  // `due_at` is the expiry, and after the removal the time of its next step.
  `CREATE TABLE previews (
    env_id ${text} PRIMARY KEY, parent_env_id ${text} NOT NULL, project_id ${text} NOT NULL, name ${text} NOT NULL,
    copy_project_id ${text} NOT NULL, build_id ${text} NOT NULL, schedules ${integer} NOT NULL, copy_events ${integer} NOT NULL, secrets ${text} NOT NULL,
    created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, expires_at ${integer} NOT NULL,
    removed_at ${integer}, due_at ${integer} NOT NULL
  )${table}`,
  `CREATE UNIQUE INDEX previews_active ON previews (parent_env_id, name) WHERE removed_at IS NULL`,
  `CREATE INDEX previews_due ON previews (due_at, env_id)`
]
